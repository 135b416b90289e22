bloomery bench fast
