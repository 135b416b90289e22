bloomery patch --help
