for n in 1 1000 1_000 1e3 1.5e3; do echo "$n" | bloomery dedup -n "${n#+}"; done
for p in 0.5 1e-6 1% .5; do echo "$p" | bloomery dedup -p "$p"; done
for s in 4096 4K 1.5M 1MiB 2k; do echo "$s" | bloomery dedup --memory "$s" --quiet; done
