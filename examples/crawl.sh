#!/bin/sh
# SPDX-License-Identifier: MIT
# The main job on a small sample: two days of a crawler's log, each URL fetched once.
#
#     examples/crawl.sh PROGRAM DIRECTORY          (make run)
#
# Writes the logs and the filter to DIRECTORY and says what to try with them.
set -eu
bloomery=$1 dir=$2
mkdir -p "$dir"
rm -f "$dir/seen.blm"

# A day's log: time, status, URL. Popular pages come often, so about half of the lines repeat one.
# Plain awk arithmetic, the same numbers on every machine.
day()
{
    awk -v date="$1" -v lines="$2" -v seed="$3" -v pages="$4" '
    function random(n) { seed = (seed * 16807) % 2147483647; return seed % n }
    BEGIN {
        split("shop news wiki forum docs", site, " ")
        for (i = 0; i < lines; i++) {
            s = int(i * 86400 / lines)
            page = random(4) ? random(pages) : random(60)
            printf "%sT%02d:%02d:%02dZ 200 https://%s.example.com/page/%d\n", date,
                s / 3600, s / 60 % 60, s % 60, site[page % 5 + 1], page
        }
    }'
}
day 2026-03-02 5000 20260302 4000 >"$dir/monday.log"
day 2026-03-03 5000 20260303 6000 >"$dir/tuesday.log"

show()
{
    printf '\n$ %s\n' "$*" | sed "s|$bloomery|bloomery|g; s|$dir/||g"
    sh -c "$*"
}
printf '%s\n' "Two days of a crawler's log, in $dir: which URLs are new?"
seen="-f 3 -d ' ' --state $dir/seen.blm"
show "$bloomery dedup -n 15e3 $seen --stats $dir/monday.log > $dir/fetch-monday.log"
show "$bloomery dedup $seen $dir/tuesday.log > $dir/fetch-tuesday.log"
show "wc -l < $dir/fetch-tuesday.log"
show "head -n 3 $dir/fetch-tuesday.log"

urls=$(cat "$dir/fetch-monday.log" "$dir/fetch-tuesday.log" | wc -l)
bytes=$(wc -c <"$dir/seen.blm")
cat <<END

seen.blm now knows both days, in $((bytes / urls)) bytes a URL (it was planned for 15,000). Three things to try next:

  $bloomery info $dir/seen.blm --plot
  $bloomery check -v -f 3 -d ' ' $dir/seen.blm $dir/tuesday.log | wc -l
  $bloomery dedup --help
END
