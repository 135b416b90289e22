bloomery patch </dev/null
bloomery patch - </dev/null
bloomery patch a.blm b.blm </dev/null
