bloomery calc --memory 1P
