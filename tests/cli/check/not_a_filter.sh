seq 100 >a.txt
bloomery check a.txt a.txt
