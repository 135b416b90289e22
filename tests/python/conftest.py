# SPDX-License-Identifier: MIT
import os
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


def need_greenlet():
    """The module, or the test is skipped."""
    if os.environ.get("BLM_SANITIZE"):
        pytest.skip("greenlet copies pieces of the stack, which ASan takes for an overflow")
    return pytest.importorskip("greenlet", reason="greenlet is not installed (tools/setup test)")


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


@pytest.fixture
def script():
    """Runs a program of its own, for what may hang: in this process it would take the other tests with it."""
    import subprocess

    def run(code, *args, timeout=60):
        done = subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, timeout=timeout)
        assert done.returncode == 0, done.stdout + done.stderr
        return done
    return run
