printf '616263\n6162\n6162 \n' | bloomery dedup -e hex
echo "exit $?"
printf '0A\n0a\n' | bloomery dedup -e hex
printf '7\n+7\n07\n-7\n' | bloomery dedup -e int32
printf '9223372036854775807\n-9223372036854775808\n9223372036854775807\n' | bloomery dedup -e int64
printf 'YWJj\nYWI=\nYWI\n\n' | bloomery dedup -e base64
