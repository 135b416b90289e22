# SPDX-License-Identifier: MIT
"""The quick analysers find nothing in the sources (tools/analyse cppcheck lint); and they find what is there.

Versions of clang-tidy differ in what they say: only the one that .clang-tidy names may judge."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, SOURCE, check, run, scratch, skip, write  # noqa: E402

VERSION = re.search(r"clang-tidy (\d+)", (SOURCE / ".clang-tidy").read_text()).group(1)
FINDS = {"cppcheck": "[memleak]", "lint": "[misc-redundant-expression"}
BAD = """#include <stdlib.h>
int bad(const char *s);
int bad(const char *s)
{
    char *p = malloc(4);
    if (s == s)
        return p[7];
    return 0;
}
"""


def which_are_here():
    """The analysers of this test that can judge."""
    here = ["cppcheck"] if shutil.which("cppcheck") else []
    said = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True,
                          check=False).stdout if shutil.which("clang-tidy") else ""
    if re.search(rf"version {VERSION}\.", said) and (BUILD / "compile_commands.json").exists():
        here.append("lint")
    return here


analysers = which_are_here()
if not analysers:
    skip(f"neither cppcheck nor clang-tidy {VERSION} is here")
root = scratch("analyse")
bad = write(root / "bad.c", BAD)
write(root / "compile_commands.json",
      json.dumps([{"directory": str(root), "file": str(bad), "command": f"cc -c {bad}"}], indent=2))
for one in analysers:
    done = subprocess.run([SOURCE / "tools/analyse", one, "--", str(bad)], capture_output=True, text=True,
                          check=False, env=dict(os.environ, BUILD=str(root)))
    check(done.returncode == 1 and FINDS[one] in done.stdout + done.stderr,
          f"{one} lets a bug pass: {done.stdout}{done.stderr}")

print(run(SOURCE / "tools/analyse", *analysers, env=dict(os.environ, BUILD=str(BUILD))), end="")
