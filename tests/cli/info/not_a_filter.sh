echo 'once upon a time' >story.txt
bloomery info story.txt
