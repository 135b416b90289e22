bloomery help frobnicate
