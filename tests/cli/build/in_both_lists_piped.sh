# The line of a list that comes from a pipe is named too, in memory and by way of the disk.
printf 'a\nb\nc\n' >in
printf 'x\nc\n' >out
bloomery build a.blm --include - --exclude out <in
bloomery build a.blm --include in --exclude - <out
mkfifo pipe
cat in >pipe &
bloomery build a.blm --include pipe --exclude - <out
wait
cat in | bloomery build a.blm --include /dev/stdin --exclude out --memory 1M
cat out | bloomery build a.blm --include in --exclude - --memory 1M
# Far down, where there is more than one block.
seq 200000 >many
{ seq 200001 300000; echo 150000; } | bloomery build a.blm --include many --exclude -
# Without a place for its notes it names what it can.
TMPDIR=nowhere bloomery build a.blm --include in --exclude - <out
ls
