# One row of each sort: a scheme with funnels, another name for one, one for programs; a format.
bloomery schemes --json | awk '/^    \{/ { row = "" } { row = row $0 "\n" }
    /^    \}/ && row ~ /"name": "(guava64|spark|functions|native|redisbloom-dump)",/ { printf "%s", row }'
