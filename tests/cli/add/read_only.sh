# As a user who may not write to the file; root may write to any.
as_user()
{
    [ "$(id -u)" != 0 ] || set -- setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
    "$@"
}
bloomery create a.blm -n 1000 --quiet
chmod 444 a.blm
cp "$(command -v bloomery)" program
echo a | as_user ./program add a.blm
