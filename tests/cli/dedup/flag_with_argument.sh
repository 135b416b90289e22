bloomery dedup --stats=yes
