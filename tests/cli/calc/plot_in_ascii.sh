# Braille is not for a locale without UTF-8.
bloomery calc -n 1e6 -p 0.01 --plot --kind classic
