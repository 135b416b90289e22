# SPDX-License-Identifier: MIT
"""examples/crawl.sh, which is what `make run` ends in: it runs, its numbers are those of the logs it
wrote, and the three things it says to try next work."""
import os
import re
import subprocess

from tool import BLOOMERY, SOURCE, check, scratch

work = scratch("cli.run")
done = subprocess.run([str(SOURCE / "examples/crawl.sh"), BLOOMERY, str(work)],
                      capture_output=True, text=True, check=False)
check(done.returncode == 0, done.stderr)
seen = set()
for day, words in (("monday", "unique"), ("tuesday", None)):
    new = []
    for line in (work / f"{day}.log").read_text().splitlines(True):
        url = line.split()[2]
        if url not in seen:
            seen.add(url)
            new.append(line)
    check((work / f"fetch-{day}.log").read_text() == "".join(new), f"{day}: each URL once")
    if words:
        check(re.search(rf"^{words} +{len(new):,}$", done.stderr, re.M), done.stderr)
    else:
        check(f"\n{len(new)}\n" in done.stdout, done.stdout)

tries = re.findall(r"^  (\S.*)$", done.stdout.split("to try next:")[1], re.M)
check(len(tries) == 3, tries)
for line in tries:
    tried = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False,
                           env={**os.environ, "LC_ALL": "C"})
    check(tried.returncode == 0 and tried.stdout and not tried.stderr, f"{line}: {tried}")
