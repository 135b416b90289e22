bloomery verify
bloomery verify - --members -
bloomery verify a.blm --absent keys --trials 100
bloomery verify a.blm --trials none
