printf '1,x,first\n2,y,second\n3,x,third\n4\n5\n6,,z\n' | bloomery dedup -f 2 -d ,
