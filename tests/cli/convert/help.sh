bloomery convert --help
