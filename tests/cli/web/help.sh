bloomery web --help
