bloomery create a.blm --for 10m -n 1e5
bloomery create b.blm --for 1.5h -n 1000 --slack 5%
bloomery create c.blm --kind window -n 1000
