bloomery create a -n 5 --quiet
seq 5 | bloomery create b --like - --from -
seq 5 | bloomery create b --like /dev/stdin --from -
bloomery create b --like - --from - <a
ls
