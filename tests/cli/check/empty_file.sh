: >a.blm
bloomery check a.blm </dev/null
