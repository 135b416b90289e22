# SPDX-License-Identifier: MIT
"""docs/statistics.md, docs/adversary.md and their pictures are what bench/results says; a figure changed
by hand is noticed; and nothing native was refused in what is recorded."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

source = Path(os.environ["BLM_SOURCE"])


def check(root):
    return subprocess.run([sys.executable, root / "tools/evidence", "check"], capture_output=True, text=True)


done = check(source)
if done.returncode:
    sys.exit(done.stderr)
for part in json.loads((source / "bench/results/statistics.json").read_text()):
    if part["refused"]:
        sys.exit(f"{part['part']}: {part['refused']} of {part['tests']} tests were refused when it was recorded")

with tempfile.TemporaryDirectory() as scratch:
    tree = Path(scratch)
    for part in ("tools", "bench/results", "docs"):
        (tree / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source / part, tree / part)
    if check(tree).returncode:
        sys.exit("a copy of the tree is not in order")
    page = tree / "docs/adversary.md"
    page.write_text(page.read_text().replace("µs", "ms", 1))
    said = check(tree)
    if said.returncode != 1 or "docs/adversary.md" not in said.stderr:
        sys.exit(f"a changed figure was not noticed: {said}")
