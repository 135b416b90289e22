# SPDX-License-Identifier: MIT
"""Every mutation listed in docs/testing.md still applies, and names a test that exists. Running
them all takes minutes: that is `tools/mutate`, by hand."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, run  # noqa: E402

run(sys.executable, SOURCE / "tools/mutate", "--root", SOURCE, "--check")
rows = [line.split() for line in
        run(sys.executable, SOURCE / "tools/mutate", "--root", SOURCE, "--list").splitlines()]
assert len(rows) >= 20, "the list of mutations was not read"
assert len({row[0] for row in rows}) == len(rows), "two mutations of one name"
for name, test, file in rows:
    parts = test.split(".")
    assert parts[0] == "unit", f"{name}: {test} is no unit test"
    path = SOURCE.joinpath("tests/unit", *parts[1:-1], f"test_{parts[-1]}.c")
    assert path.is_file(), f"{name}: there is no {path}"
