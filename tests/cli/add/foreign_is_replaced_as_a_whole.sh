bloomery create f.go --scheme go -n 1000 -p 1e-6 --quiet
ln f.go before
printf 'a\nb\n' | bloomery add f.go
[ f.go -ef before ] || echo replaced
printf 'a\nb\nc\n' | bloomery check f.go
printf 'a\nb\nc\n' | bloomery check before
ls
