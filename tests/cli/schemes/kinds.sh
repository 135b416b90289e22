bloomery schemes | sed -n '/^Kinds/,$p'
bloomery schemes --json | sed -n '/^  "kinds"/,$p'
