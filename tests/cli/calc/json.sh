bloomery calc -n 1e6 --memory 1M -p 0.01 --json | sed -E 's/(0\.[0-9]{4})[0-9]+/\1/'
