# 257 links, one more than a native file has room for
chain=$(dirname "$0")/../../../fuzz/corpus/decode_redisbloom/chunks-257-links
bloomery convert "$chain" a.dump --to redisbloom-dump
bloomery convert a.dump b.rb --to redisbloom
cmp b.rb "$chain" && echo 'the same bytes again'
bloomery info --json b.rb | grep -c '"kind": "classic"'
bloomery convert a.dump c.blm --to native || echo "exit $?"
ls
