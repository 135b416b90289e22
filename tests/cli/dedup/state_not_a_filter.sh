echo 'something else' >seen.blm
echo a | bloomery dedup --state seen.blm
code=$?
cat seen.blm
exit $code
