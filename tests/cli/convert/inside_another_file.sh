golden=$(dirname "$0")/../../golden/guava/m64-small10
{ printf 'twelve bytes'; cat "$golden"/filter.bin; } >archive
bloomery convert archive a.guava --to guava --offset 12 --from guava
cmp a.guava "$golden"/filter.bin && echo same
