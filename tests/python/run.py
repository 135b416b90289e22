#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the Python package as a user would (pip, offline) and runs its tests against what was installed.

    tests/python/run.py build            into BLM_BUILD/python/site
    tests/python/run.py test_filter …    pytest on these files, with the interpreter that has pytest
"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
BUILD = Path(os.environ.get("BLM_BUILD", TREE / "build")).resolve()
SITE = BUILD / "python" / "site"


def interpreter():
    """Debian's packages serve Debian's Python, which need not be the first in PATH."""
    wanted = "import pytest, hypothesis, numpy, scrapy, redis, pip; redis.Redis"
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", wanted], capture_output=True, cwd="/").returncode == 0:
            return python
    print("skipped: no Python here has pytest, hypothesis, numpy, scrapy, redis and pip (tools/setup test)")
    sys.exit(77)


def main():
    python = interpreter()
    if sys.argv[1:] == ["build"]:
        SITE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--upgrade",
                               "--root-user-action=ignore", "--target", SITE, TREE / "python"], cwd="/")
        return done.returncode
    env = dict(os.environ, PYTHONPATH=str(SITE), BLOOMERY=str(BUILD / "bloomery"), PYTHONDONTWRITEBYTECODE="1")
    files = [str(HERE / (name + ".py")) for name in sys.argv[1:]]
    return subprocess.run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *files], env=env, cwd="/").returncode


sys.exit(main())
