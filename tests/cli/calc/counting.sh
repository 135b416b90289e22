bloomery calc -n 1e6 --memory 1M --kind counting
