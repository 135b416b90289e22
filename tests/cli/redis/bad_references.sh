# needs: HIREDIS
# What is wrong with a reference is said without its password, whatever shape that has.
for reference in \
    redis://127.0.0.1 redis://127.0.0.1/ redis://127.0.0.1/3 redis://user:secret@127.0.0.1:port/key \
    redis://user:sec/ret@127.0.0.1/key redis://user:sec#ret@127.0.0.1:0/key redis://[::1/key \
    redis://127.0.0.1/%zz 'redis://127.0.0.1/key?wait=1' 'redis://127.0.0.1/key?timeout=soon' \
    rediss://user:secret@127.0.0.1/key unix:socket#key unix:///run/socket \
    'unix:///run/socket?db=x#key' redis+unix:///run/socket#
do
    bloomery check "$reference" </dev/null 2>&1
    echo "exit $?"
done
