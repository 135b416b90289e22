bloomery remove
