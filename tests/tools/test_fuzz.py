# SPDX-License-Identifier: MIT
"""tools/fuzz: the table in docs/testing.md is the one that fuzz/record.tsv gives, and books add up."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["BLM_SOURCE"])
FUZZ = SOURCE / "tools/fuzz"


def run(*args):
    return subprocess.run([sys.executable, str(FUZZ), *map(str, args)], capture_output=True, text=True,
                          check=False)


checked = run("--check")
assert checked.returncode == 0, checked.stderr

# Findings and times go into the books that are named, and a second line of a target adds to the first.
with tempfile.TemporaryDirectory() as folder:
    ours, other = Path(folder, "ours.tsv"), Path(folder, "other.tsv")
    other.write_text("sniff\t70\t1000\t20\t30\t2026-11-17\t-\n", encoding="utf-8")
    for _ in range(2):
        assert run("--books", ours, "add", other).returncode == 0
    assert run("--books", ours, "found", "sniff", "a thing").returncode == 0
    assert run("--books", ours, "found", "sniff", "another").returncode == 0
    rows = [line for line in ours.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert rows == ["sniff\t140\t2000\t20\t30\t2026-11-17\ta thing; another"], rows

# Every target has a corpus in the tree, seeds, or golden files of its format to start from.
seeds = (SOURCE / "fuzz/seeds.c").read_text(encoding="utf-8")
for source in sorted(SOURCE.glob("fuzz/fuzz_*.c")):
    name = source.stem[len("fuzz_"):]
    golden = name[len("decode_"):].replace("_", "-") if name.startswith("decode_") else "-"
    assert ((SOURCE / "fuzz/corpus" / name).is_dir() or f'"{name}"' in seeds or
            (SOURCE / "tests/golden" / golden).is_dir()), f"{name} has nothing to start from"
print("ok")
