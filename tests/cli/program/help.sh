bloomery --help | sed '/^Commands:/,/^$/d'
