# SPDX-License-Identifier: MIT
"""The branches that tests/coverage.txt explains are in the sources; and one that is not is noticed.

Whether they are taken is for `make coverage` to say."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, check, run, scratch, write  # noqa: E402

tool = SOURCE / "tools/coverage"
run(tool, "reasons")
known = next(line for line in (SOURCE / "tests/coverage.txt").read_text().split("\n")
             if line.startswith("src/"))
name, function, rest = known.split(" ", 2)
root = scratch("coverage")
for what, line in {
        "file": f"src/codec/nowhere.c {function} {rest}",
        "decoder": f"src/kind/classic.c {function} {rest}",
        "function": f"{name} nobody {rest}",
        "condition": f"{name} {function} `never && ever` never true: so",
}.items():
    said = run(tool, "reasons", "--reasons", write(root / "reasons.txt", f"# {what}\n{line}\n"), fails=True)
    check("it is not there" in said, f"another {what} passes: {said}")
run(tool, "reasons", "--reasons", write(root / "reasons.txt", known + "\n"))
said = run(tool, "reasons", "--reasons", write(root / "reasons.txt", f"{name} {function}\n"), fails=True)
check("not FILE FUNCTION" in said, said)
