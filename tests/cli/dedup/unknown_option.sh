bloomery dedup --sate seen.blm
