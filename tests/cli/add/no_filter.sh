bloomery add
