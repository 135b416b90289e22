bloomery --help
