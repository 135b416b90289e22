bloomery --frobnicate
