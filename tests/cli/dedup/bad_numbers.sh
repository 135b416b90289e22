for n in 0 -1 1.5 1e30 ten 1__0 '' 18446744073709551616; do bloomery dedup -n "$n" </dev/null; done
for p in 0 1 2 -0.1 nan 1e; do bloomery dedup -p "$p" </dev/null; done
for s in 0 12Q 1KK 99999T -1; do bloomery dedup --memory "$s" </dev/null; done
