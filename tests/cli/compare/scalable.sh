bloomery create a.blm -n 1000 --kind scalable --quiet
bloomery compare a.blm a.blm
