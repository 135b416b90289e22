seq 10 >keys
bloomery check - keys </dev/null
seq 100 | bloomery check - keys
