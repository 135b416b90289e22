# -n is refused there.
bloomery dedup --window 1000 --memory 4K -p 1e-4 </dev/null
bloomery dedup --window 10m -n 1000 --memory 4K -p 1e-4 </dev/null
bloomery create f --last 1000 --memory 4K -p 1e-4
