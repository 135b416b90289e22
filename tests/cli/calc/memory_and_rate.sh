bloomery calc --memory 1M -p 1e-6
