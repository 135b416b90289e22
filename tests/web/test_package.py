#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The npm package: built, and tested by node --test against the golden vectors (package.mjs)."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import site_of_tests as site # noqa: E402

build = site.build()
env = dict(os.environ, BLM_PACKAGE=str(build / "pkg"))
sys.exit(subprocess.run(["node", "--test", str(Path(__file__).with_name("package.mjs"))], env=env, check=False).returncode)
