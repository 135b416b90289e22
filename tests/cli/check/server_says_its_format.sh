bloomery check --from raw --from-scheme go -m 64 -k 3 redis://127.0.0.1:1/seen /dev/null
