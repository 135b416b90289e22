bloomery info --help
