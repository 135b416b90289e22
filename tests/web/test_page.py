#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page, by Playwright in Debian's Chromium (page.mjs). Screenshots stay in build/web/screenshots."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import site_of_tests as site # noqa: E402

build = site.build(page=True)
env = dict(os.environ, BLM_DIST=str(build / "dist"), BLM_NPM=str(build / "npm"))
sys.exit(subprocess.run(["node", "--test", str(Path(__file__).with_name("page.mjs"))], env=env, check=False).returncode)
