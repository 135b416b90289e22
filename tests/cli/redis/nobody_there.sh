# needs: HIREDIS
# A server that does not answer: said once, with what to do, and without the password.
for command in 'info R' 'add R' 'check R' 'remove R' 'create R -n 10' 'create x.blm --like R' \
    'dedup --state R' 'verify R' 'convert R x.blm --to native' 'diff R R'
do
    set -- $command
    for word; do
        shift
        [ "$word" = R ] && word=redis://user:secret@127.0.0.1:1/3/key
        set -- "$@" "$word"
    done
    bloomery "$@" </dev/null 2>&1
    echo "exit $?"
done
bloomery check unix:///no/such/socket#key </dev/null 2>&1
