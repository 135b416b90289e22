bloomery --help >&-
