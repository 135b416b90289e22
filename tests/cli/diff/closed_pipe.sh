bloomery create a.blm -n 1000 --quiet
{
    bloomery diff --quiet a.blm a.blm
    echo "exit $?" >&2
} | :
