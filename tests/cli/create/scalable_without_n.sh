bloomery create a.blm --kind scalable
