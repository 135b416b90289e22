# SPDX-License-Identifier: MIT
"""The sources look as `make format` leaves them; and a source that does not is named.

Versions of clang-format differ in their opinion of some lines: only the one that .clang-format
names may judge."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, check, scratch, skip, tracked, write  # noqa: E402

STYLE = (SOURCE / ".clang-format").read_text()
VERSION = re.search(r"clang-format (\d+)", STYLE).group(1)


def judge():
    """The clang-format of that version."""
    others = []
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True,
                                  check=False).stdout.strip()
            if re.search(rf"version {VERSION}\.", said):
                return name
            others.append(said)
    skip(f"clang-format {VERSION} is not here ({', '.join(others) or 'nor any other'})")


def unformatted(program, paths):
    """Those of the paths that the program would change."""
    done = subprocess.run([program, "--dry-run", *map(str, paths)], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 0, done.stderr)
    return list(dict.fromkeys(re.findall(r"^(\S+?):\d+:\d+: warning: ", done.stderr, re.M)))


program = judge()
root = scratch("format")
write(root / ".clang-format", STYLE)
good = write(root / "good.c", "int good(void) { return 1; }\n")
bad = write(root / "bad.c", "int bad(void) {\n  return  1; }\n")
check(unformatted(program, [good, bad]) == [str(bad)], "a source out of format is not noticed")

paths = [path for path in tracked() if path.suffix in (".c", ".h")]
check(len(paths) > 100, f"only {len(paths)} sources were found")
wrong = unformatted(program, paths)
check(not wrong, "\n".join(["make format would change",
                            *(Path(name).relative_to(SOURCE).as_posix() for name in wrong)]))
