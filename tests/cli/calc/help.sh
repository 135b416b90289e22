bloomery calc --help
