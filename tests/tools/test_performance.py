# SPDX-License-Identifier: MIT
"""docs/performance.md, the README's table and the charts are what bench/results says; and a figure
changed by hand is noticed."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

source = Path(os.environ["BLM_SOURCE"])


def check(root):
    return subprocess.run([sys.executable, root / "tools/performance", "check"],
                          capture_output=True, text=True)


done = check(source)
if done.returncode:
    sys.exit(done.stderr)

with tempfile.TemporaryDirectory() as scratch:
    tree = Path(scratch)
    for part in ("tools", "bench/results", "docs", "README.md", "README.zh-CN.md"):
        (tree / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, tree / part)
        else:
            shutil.copy(source / part, tree / part)
    if check(tree).returncode:
        sys.exit("a copy of the tree is not in order")
    page = tree / "docs/performance.md"
    page.write_text(page.read_text().replace("×", "××", 1))
    said = check(tree)
    if said.returncode != 1 or "docs/performance.md" not in said.stderr:
        sys.exit(f"a changed figure was not noticed: {said}")
