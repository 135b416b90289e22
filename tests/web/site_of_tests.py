# SPDX-License-Identifier: MIT
"""What the tests of the package and the page share: the build, or why there is none (exit 77)."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["BLM_SOURCE"])
BUILD = Path(os.environ["BLM_BUILD"]) / "web"


def skip(why):
    print(f"skipped: {why}: see tools/setup web")
    sys.exit(77)


def build(page=False):
    for program in ("clang", "wasm-ld", "wasm-opt", "node") + (("npm", "chromium") if page else ()):
        if not shutil.which(program):
            skip(f"no {program}")
    if not Path("/usr/include/wasm32-wasi").is_dir():
        skip("no wasi-libc")
    done = subprocess.run([sys.executable, str(SOURCE / "web/build"), str(BUILD)] + ([str(BUILD / "dist")] if page else []),
                          check=False)
    if done.returncode == 77:
        skip("npm cannot install what the page is built with")
    if done.returncode:
        sys.exit(done.returncode)
    return BUILD
