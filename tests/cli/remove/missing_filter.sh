bloomery remove a.blm </dev/null
