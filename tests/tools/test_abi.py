# SPDX-License-Identifier: MIT
"""Programs linked with the last release run with this tree: tools/abi says so, and says so only then."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, SOURCE, check, scratch  # noqa: E402

if not shutil.which("abidiff"):
    print("skipped: abidiff is not here")
    sys.exit(0)

work = scratch("tools.abi")


def abi(root, *words):
    done = subprocess.run([sys.executable, root / "tools" / "abi", "check", *map(str, words)],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


code, text = abi(SOURCE, BUILD / "libbloomery.so")
check(code == 0, text)

# A copy of what tools/abi reads, and what breaks a program in it: each is noticed.
tree = work / "tree"
for part in ("include", "packaging", "tools"):
    shutil.copytree(SOURCE / part, tree / part)
header = tree / "include" / "bloomery.h"
right = header.read_text()


def changed(pattern, to):
    wrong, n = re.subn(pattern, to, right, count=1)
    check(n == 1, pattern)
    header.write_text(wrong)
    return abi(tree)


check(abi(tree)[0] == 0, "a copy of the tree")
code, text = changed(r"(?m)^BLM_API bool blm_check\([^;]*;", "")
check(code != 0 and "blm_check" in text, text)                      # a function is gone
code, text = changed(r"    uint16_t   named;", "    uint32_t   named;")
check(code != 0 and "named" in text, text)                          # a field is wider
code, text = changed(r"BLM_API void +blm_free\(blm_filter \*f\)", "BLM_API int blm_free(blm_filter *f, int how)")
check(code != 0 and "blm_free" in text, text)                       # other arguments
code, text = changed(r"BLM_API void +blm_free\(", "BLM_API void blm_one_more(int a);\nBLM_API void blm_free(")
check(code == 0, text)                                              # a new function breaks nobody
