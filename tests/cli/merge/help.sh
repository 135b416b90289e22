bloomery merge --help
