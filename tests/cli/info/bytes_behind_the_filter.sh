# needs: JANSSON
# A filter inside another file, in every format that says how long it is.
one() # format scheme
{
    bloomery create f.blm --scheme "$2" -n 10 -p 0.01 --quiet
    echo a | bloomery add f.blm --quiet
    bloomery convert f.blm f --to "$1" --quiet --force
    { printf 'twelve bytes'; cat f; printf 'and more behind it'; } >archive
    printf '%s ' "$1"
    bloomery info --from "$1" --offset 12 archive | grep ' keys '
    echo a | bloomery check -c --from "$1" --offset 12 - /dev/fd/3 3<<-end <archive
	a
	end
    rm -f f.blm f
}
one guava guava
one go go
one go-json go
one go-gob go
one spark spark
one dcso dcso
one dcso01 dcso01
one bip37 bip37
one redisbloom-dump redisbloom
one parquet parquet
bloomery create f --scheme guava -n 10 -p 0.01 --quiet
cat f f >twice
bloomery info twice
