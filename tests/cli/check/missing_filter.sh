bloomery check a.blm </dev/null
