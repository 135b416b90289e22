bloomery schemes --json | sed -n 's/^      "name": "\(.*\)",$/\1/p' >json
bloomery schemes | grep -v funnels | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p' >table
cmp json table && echo same
