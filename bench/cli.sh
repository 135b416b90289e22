#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares dedup, add and check with the tools one would use instead, on the same lines in one run:
#
#     bench/cli.sh [LINES]        default 20e6: 1.4 GB of lines in $TMPDIR, 6 GB of memory
#
# BUILD (build) has the program. RUNS (1) is how often each is run; the fastest counts. Lines are
# URL-like, and a fifth of them are repeats (tests/cli/genlines.c). Output goes to /dev/null. Seconds
# are wall time; memory is the peak of the process, without the page cache. Tools that are not
# installed are left out: mawk, gawk, python3, and bloom (Debian: golang-github-dcso-bloom-cli).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
lines=$(printf '%.0f' "${1:-20e6}")
build=$(cd "${BUILD:-$here/build}" && pwd)
runs=${RUNS:-1}
bloomery=$build/bloomery
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bloomery-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM
cd "$scratch"
export LC_ALL=C

"${CC:-cc}" -O2 -o genlines "$here/tests/cli/genlines.c"
./genlines "$lines" 0.2 1 >lines
cat >clock.py <<'END'
"""clock.py RUNS INPUT COMMAND: runs a shell command; prints its least seconds, processor seconds
and peak megabytes (with its children's)."""
import os, subprocess, sys, time
runs, source, command = int(sys.argv[1]), sys.argv[2], sys.argv[3]
best = None
for _ in range(runs):
    start = time.monotonic()
    with open(source, "rb") as stdin, open(os.devnull, "wb") as sink:
        p = subprocess.Popen(["sh", "-c", "exec " + command], stdin=stdin, stdout=sink,
                             stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(p.pid, 0)
    if status not in (0, 256):
        sys.exit(f"status {status}: {command}")
    row = (time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    best = row if best is None or row < best else best
print("%.2f %.2f %.0f" % best)
END
cat >set.py <<'END'
import sys
seen, write = set(), sys.stdout.buffer.write
for line in sys.stdin.buffer:
    if line not in seen:
        seen.add(line)
        write(line)
END

unique=$("$bloomery" dedup -n "$lines" -p 1e-9 lines | wc -l)
echo "$lines lines, $unique of them different, $(($(wc -c <lines) / 1000000)) MB;" \
     "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors," \
     "load $(cut -d ' ' -f 1 /proc/loadavg)"

# row NAME COMMAND…: measures and prints; keeps both kinds of seconds in $seconds.
row()
{
    name=$1
    shift
    set -- $(python3 clock.py "$runs" lines "$*")
    seconds=$1/$2
    printf '%-30s %8.2f s %8.2f s cpu %6.0f MB' "$name" "$1" "$2" "$3"
}
# against SECONDS WHAT: how many times as long this row took, in wall time and in processor time
# (the better guide on a busy machine).
against()
{
    echo "$seconds/$1" | awk -F / -v what="$2" \
        '{ printf "  %5.1f x %s (cpu %.1f x)", $1 / ($3 + 1e-9), what, $2 / ($4 + 1e-9) }'
}
there() { command -v "$1" >/dev/null 2>&1; }

echo
echo "dedup, p = 1e-6"
row 'wc -l (reading only)' wc -l; echo
row 'bloomery dedup -n' "'$bloomery' dedup -n $unique"; sized=$seconds; echo
row 'bloomery dedup -n --threads 1' "'$bloomery' dedup -n $unique --threads 1"
against "$sized" 'dedup -n'; echo
row 'bloomery dedup -n -f 4 -d /' "'$bloomery' dedup -n $unique -f 4 -d /"
against "$sized" 'dedup -n'; echo
row 'bloomery dedup' "'$bloomery' dedup"; growing=$seconds; against "$sized" 'dedup -n'; echo
row 'bloomery dedup, from a pipe' "sh -c \"cat | '$bloomery' dedup\""; against "$sized" 'dedup -n'; echo
row 'sort -u' sort -u --parallel=2 -S 50%; against "$sized" 'dedup -n'; against "$growing" 'dedup'; echo
row 'python3, a set' python3 set.py; against "$sized" 'dedup -n'; against "$growing" 'dedup'; echo
for awk in mawk gawk; do
    there $awk || continue
    row "$awk '!seen[\$0]++'" "$awk '!seen[\$0]++'"; against "$sized" 'dedup -n'; echo
done

echo
echo "add and check, p = 1e-6"
"$bloomery" create empty.blm -n "$unique" -p 1e-6 --kind blocked --quiet
row 'bloomery add (blocked)' "sh -c 'cp empty.blm f.blm && \"$bloomery\" add f.blm --quiet'"
added=$seconds; echo
row 'bloomery check (blocked)' "'$bloomery' check f.blm"; checked=$seconds; echo
row 'bloomery check -c (blocked)' "'$bloomery' check -c f.blm"; against "$checked" 'check'; echo
"$bloomery" create empty.blm -n "$unique" -p 1e-6 --force --quiet
row 'bloomery add (classic)' "sh -c 'cp empty.blm c.blm && \"$bloomery\" add c.blm --quiet'"
against "$added" 'blocked'; echo
row 'bloomery check (classic)' "'$bloomery' check c.blm"; against "$checked" 'blocked'; echo
if there bloom; then
    bloom create -p 1e-6 -n "$unique" empty.bloom
    row 'bloom insert' "sh -c 'cp empty.bloom f.bloom && bloom insert f.bloom'"
    against "$added" 'add'; echo
    row 'bloom check' bloom check f.bloom; against "$checked" 'check'; echo
fi

echo
"$bloomery" dedup -n "$unique" lines --json 2>json | ./genlines "$lines" 0.2 1 --verify |
    sed 's/unique \(.*\) dropped \(.*\)/dedup -n, checked: \1 different lines, \2 dropped wrongly/'
sed -n 's/.*expected_wrongly_dropped": \(.*\)/expected to be dropped: \1/p' json
