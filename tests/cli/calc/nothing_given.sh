bloomery calc
