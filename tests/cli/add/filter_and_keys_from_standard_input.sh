bloomery add - </dev/null
