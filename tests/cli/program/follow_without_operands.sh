bloomery follow
bloomery follow redis://localhost/x
