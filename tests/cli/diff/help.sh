bloomery diff --help
