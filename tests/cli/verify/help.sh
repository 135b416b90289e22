bloomery verify --help
