bloomery schemes --help
