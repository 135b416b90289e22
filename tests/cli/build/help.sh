bloomery build --help
