bloomery help remove | head -n 3
bloomery remove -h | head -n 1
