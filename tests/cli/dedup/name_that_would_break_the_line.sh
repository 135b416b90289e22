bloomery dedup "$(printf 'two\nlines\033[31m')"
