printf 'a\nb\nc\n' >in
printf 'x\nc\n' >out
bloomery build a.blm --include in --exclude out
test ! -e a.blm && echo nothing was written
