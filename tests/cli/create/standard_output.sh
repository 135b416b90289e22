bloomery create - -n 1000 -p 1e-6 --from - >a.blm <<END
a
b
END
printf 'a\nb\nc\n' | bloomery check a.blm
printf 'b\nc\n' >keys
bloomery check - keys <a.blm
