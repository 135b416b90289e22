bloomery web --dir . 
