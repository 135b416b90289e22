printf '%s\n' b a b c a a d | bloomery dedup
