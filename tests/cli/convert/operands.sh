bloomery convert --to native
bloomery convert a.blm --to native
bloomery convert - b.blm --to native --members -
