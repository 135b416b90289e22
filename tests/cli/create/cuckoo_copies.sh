# Which line it is, and what to do. Another run would end in the same place.
yes x | head -n 9 >nine
bloomery create f --kind cuckoo -n 100 --from nine
bloomery dedup nine | bloomery create f --kind cuckoo -n 100 --from -
