# As grep -n: the line's number in its input.
printf 'b\nd\n' >known
bloomery create f -n 100 -p 1e-6 --seed 1 --from known --quiet
printf 'a\nb\nc\nd' >first
printf 'b\nx\n' >second
bloomery check -n f first second
bloomery check -vn f first second
bloomery check -nc f first second
printf 'a\0b\0d' | bloomery check -0n f | tr '\0' ,
echo
seq 20000 | sed '9999s/.*/d/; 20000s/.*/b/' | bloomery check -n --threads 4 f
