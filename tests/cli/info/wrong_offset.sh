# Any byte may be the length of a bip37 filter; behind an offset, nothing else would contradict it.
bloomery create a.blm -n 100 --seed 1 --quiet
bloomery info --offset 5 a.blm
bloomery info --offset 5 - <a.blm
{ printf x; cat a.blm; } >b
bloomery info --offset 1 b | grep ' format '
bloomery info --offset 2 b
