bloomery create a.blm --memory 1M -n 1e6
bloomery create b.blm --memory 1M -p 0.001
bloomery create c.blm --memory 1M
