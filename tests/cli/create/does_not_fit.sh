bloomery create a.blm --memory 1M -n 1e6 -p 1e-3
