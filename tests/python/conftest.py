# SPDX-License-Identifier: MIT
import os
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture
def cli():
    """The command line of this build, as a function of its arguments."""
    import subprocess
    program = os.environ.get("BLOOMERY") or str(TREE / "build" / "bloomery")
    if not os.access(program, os.X_OK):
        pytest.skip(f"{program} is not built")

    def run(*args, stdin=b"", ok=(0,)):
        done = subprocess.run([program, *map(str, args)], input=stdin, capture_output=True)
        assert done.returncode in ok, done.stderr.decode()
        return done.stdout
    return run
