bloomery patch a.blm </dev/null
