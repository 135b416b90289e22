#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs command-line cases and compares what they do, byte for byte:
#
#     run.sh [--update] DIRECTORY...      directories beside this script, all of them when none
#
# DIRECTORY/CASE.sh is run by sh in an empty directory, with the bloomery under test first in PATH,
# for five minutes at most. Its standard output must be CASE.out, its standard error CASE.err (each
# empty when the file is missing) and its exit status the number in CASE.code (0 when missing).
# A case with a line "# needs: NAME..." is skipped where the build was configured without one of
# these libraries (BLOOMERY_WITH_NAME).
# --update writes these files from what happened: read the difference before you commit it.
# BLM_BUILD says where the program is; else build/ of this tree.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 2
build=${BLM_BUILD:-$here/../../build}
[ -x "$build/bloomery" ] || { echo "run.sh: there is no $build/bloomery" >&2; exit 2; }
# Without it every case that needs a library would be skipped, and the run be green.
[ -r "$build/CMakeCache.txt" ] || { echo "run.sh: there is no $build/CMakeCache.txt" >&2; exit 2; }
PATH=$(cd "$build" && pwd):$PATH
LC_ALL=C
unset NO_COLOR TERM POSIXLY_CORRECT
export PATH LC_ALL

update=no
[ "${1-}" != --update ] || { update=yes; shift; }
[ $# -gt 0 ] || set -- $(cd "$here" && for d in */; do echo "${d%/}"; done)

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cases=0 failed=0 skipped=0

# lacks CASE: names the first library that the case needs and the build has not.
lacks()
{
    for name in $(sed -n 's/^# needs: //p' "$1"); do
        grep -q "^BLOOMERY_WITH_$name:BOOL=ON" "$build/CMakeCache.txt" || { echo "$name"; return; }
    done
}

# expect FILE ACTUAL: FILE (or nothing) is what ACTUAL holds.
expect()
{
    if [ $update = yes ]; then
        if [ -s "$2" ]; then cp "$2" "$1"; else rm -f "$1"; fi
        return 0
    fi
    [ -e "$1" ] || set -- /dev/null "$2"
    diff -u "$1" "$2"
}

for directory; do
    for case in "$here/$directory"/*.sh; do
        [ -e "$case" ] || continue
        missing=$(lacks "$case")
        if [ "$missing" ]; then
            echo "skipped: $directory/$(basename "$case" .sh): built without $missing"
            skipped=$((skipped + 1))
            continue
        fi
        name=${case%.sh} cases=$((cases + 1))
        rm -rf "$scratch/work"
        mkdir "$scratch/work"
        (cd "$scratch/work" && exec timeout -k 5 300 sh "$case") \
            >"$scratch/out" 2>"$scratch/err" </dev/null
        code=$?
        : >"$scratch/code"
        [ $code = 0 ] || echo $code >"$scratch/code"
        good=yes
        for part in out err code; do
            expect "$name.$part" "$scratch/$part" || good=no
        done
        [ $good = yes ] || { echo "FAILED: $directory/${name##*/}"; failed=$((failed + 1)); }
    done
done
echo "$cases cases, $failed failed, $skipped left out"
[ $failed = 0 ] && [ $((cases + skipped)) -gt 0 ]
