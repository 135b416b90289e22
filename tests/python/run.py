#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the Python package as a user would (pip, offline) and runs its tests against what was installed.

    tests/python/run.py build            into BLM_BUILD/python/site
    tests/python/run.py test_filter …    pytest on these files, with the interpreter that has pytest

With BLM_SANITIZE=1 the extension is built with ASan and UBSan, and the interpreter runs under them.
"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
BUILD = Path(os.environ.get("BLM_BUILD", TREE / "build")).resolve()
SANITIZE = bool(os.environ.get("BLM_SANITIZE"))
SITE = BUILD / "python" / ("site-asan" if SANITIZE else "site")


def interpreter():
    """Debian's packages serve Debian's Python, which need not be the first in PATH."""
    wanted = "import pytest, hypothesis, numpy, scrapy, redis, pip; redis.Redis"
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", wanted], capture_output=True, cwd="/").returncode == 0:
            return python
    print("skipped: no Python here has pytest, hypothesis, numpy, scrapy, redis and pip (tools/setup test)")
    sys.exit(77)


FLAGS = "-g -fsanitize=address,undefined -fno-sanitize-recover=undefined"
SANITIZED = {"CFLAGS": FLAGS, "LDFLAGS": FLAGS, "CC": "gcc", "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0"}


def preload():
    """The interpreter itself is not built with ASan, so its library must come first."""
    find = lambda name: subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return " ".join(map(find, ("libasan.so", "libubsan.so", "libstdc++.so")))


def main():
    python = interpreter()
    if SANITIZE:
        os.environ.update(SANITIZED)
    else:
        os.environ.setdefault("CFLAGS", "-O0")  # the tests ask for answers, not for speed
    if sys.argv[1:] == ["build"]:
        SITE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--upgrade",
                               "--root-user-action=ignore", "--target", SITE, TREE / "python"], cwd="/")
        return done.returncode
    env = dict(os.environ, PYTHONPATH=str(SITE), BLOOMERY=str(BUILD / "bloomery"), PYTHONDONTWRITEBYTECODE="1")
    if SANITIZE:
        env["LD_PRELOAD"] = preload()
    files = [str(HERE / (name + ".py")) for name in sys.argv[1:]]
    return subprocess.run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *files], env=env, cwd="/").returncode


sys.exit(main())
