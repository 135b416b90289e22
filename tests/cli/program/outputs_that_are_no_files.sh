# What no file may replace is refused in one way by all, and --force is not offered for it: what
# /dev/stdout is (a link to a pipe that has no name), a FIFO, a directory.
seq 5 >keys
bloomery create a -n 5 --seed 1 --from keys --quiet
ln -s /proc/self/fd/1 stdout
mkfifo fifo
mkdir directory
for out in stdout fifo directory; do
    for force in '' --force; do
        bloomery create $out -n 5 $force | cat
        bloomery create $out -n 5 --from keys --working-memory 1M $force | cat
        bloomery convert a $out --to native $force | cat
        bloomery merge $out a a $force | cat
        bloomery intersect $out a a $force | cat
        bloomery build $out --include keys $force | cat
    done
done
test -L stdout && test -p fifo && test -d directory && echo "all as they were"
