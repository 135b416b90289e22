bloomery bench --help
