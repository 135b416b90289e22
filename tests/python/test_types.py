# SPDX-License-Identifier: MIT
"""The types are what the package says of itself: mypy reads it strictly, the stubs are compared with the extension,
and a program that uses it wrongly is told so."""
import subprocess
import sys
from pathlib import Path

import pytest

import bloomery

TREE = Path(__file__).resolve().parents[2]
SITE = Path(bloomery.__file__).resolve().parents[1]

RIGHT = """
from typing import List, Optional
import bloomery

f: bloomery.Filter = bloomery.Filter(capacity=1000, rate=0.01, kind="blocked", seed=1, shared=True)
new: bool = f.add("a")
there: bool = b"a" in f
fresh: int = f.update(["a", b"b", 3])
both: bloomery.Filter = f | f.copy()
n: int = len(both)
value: float = f.estimate.value
cells: List[int] = f.positions("a")
size: int = bloomery.calc(1000, 0.01).bytes
with bloomery.Filter.open("x", "r+", format="native") as g:
    g.save("y", format="guava")
data: bytes = f.to_bytes()
try:
    bloomery.Filter.from_bytes(data)
except bloomery.FormatError as e:
    status: str = e.status
    offset: Optional[int] = e.offset
"""

WRONG = [("f.estimate.valu", "has no attribute"), ("word: str = len(f)", "Incompatible types"),
         ("bloomery.Filter(capacity='many')", "incompatible type"), ("f | 3", "Unsupported operand")]


@pytest.fixture
def mypy(tmp_path, monkeypatch):
    """What mypy says of a file or folder, and whether it is content."""
    if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode != 0:
        pytest.skip("mypy is not here")
    monkeypatch.setenv("MYPYPATH", str(SITE))

    def run(what):
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", TREE / "python" / "pyproject.toml", "--cache-dir",
                               tmp_path / "cache", what], capture_output=True, text=True, cwd=tmp_path)
        return done.returncode == 0, done.stdout + done.stderr
    return run


def test_the_package(mypy):
    good, said = mypy(TREE / "python" / "bloomery")
    assert good, said


def test_its_users(mypy, tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    good, said = mypy("right.py")
    assert good, said
    for line, text in WRONG:
        (tmp_path / "wrong.py").write_text(RIGHT.replace("\ndata:", f"\n{line}\ndata:"))
        good, said = mypy("wrong.py")
        assert not good and text in said and "1 error" in said, (line, said)


def test_the_stubs_are_of_this_extension(mypy, tmp_path):
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "bloomery._core"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
