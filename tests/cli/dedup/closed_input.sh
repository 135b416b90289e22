bloomery dedup <&-
