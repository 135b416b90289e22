printf 'YWJj\nYW!j\n' | bloomery dedup -e base64
