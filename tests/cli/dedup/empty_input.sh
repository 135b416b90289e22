bloomery dedup </dev/null
: >empty
bloomery dedup empty
