# As a user who may not read the files; root may read any.
as_user()
{
    [ "$(id -u)" != 0 ] || set -- setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
    "$@"
}
echo a >keys
bloomery create a.blm -n 1000 --from keys --public --quiet
cp "$(command -v bloomery)" program
chmod 000 keys
as_user ./program check a.blm keys
echo "exit $?"
chmod 000 a.blm
echo a | as_user ./program check a.blm
