bloomery calc --memory 1M
