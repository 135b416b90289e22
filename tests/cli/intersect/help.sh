bloomery intersect --help
