bloomery schemes | sed -n 1,2p
bloomery schemes | sed -n '/^Formats/{p;n;p}'
