bloomery compare --help
