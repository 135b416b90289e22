# SPDX-License-Identifier: MIT
"""Other machines give the same answers and read each other's files: one big-endian with 64 bits
(s390x), one little-endian with 32 (i686), by cross compilers and qemu. The two-file form makes this
cheap: it needs nothing but xxhash.h. Skipped (77) where there is no cross compiler; `make test`
installs them on Debian."""
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import CC, SOURCE, check, run, scratch  # noqa: E402

# compiler, its flags, the emulator. x87 arithmetic would round otherwise; limits that a 32-bit
# size_t cannot pass are no mistake there.
MACHINES = [
    ("s390x-linux-gnu-gcc", [], "qemu-s390x"),
    ("i686-linux-gnu-gcc", ["-msse2", "-mfpmath=sse", "-Wno-type-limits"], "qemu-i386"),
]
KINDS = ["classic.blm", "blocked.blm", "counting.blm", "scalable.blm"]

work = scratch("cross")
run(sys.executable, SOURCE / "tools/amalgamate", "--out", work)
shutil.copy(Path(__file__).resolve().parent / "answers.c", work)
header = next(Path(d) / "xxhash.h" for d in ("/usr/include", "/usr/local/include")
              if (Path(d) / "xxhash.h").is_file())
shutil.copy(header, work)


def build(compiler, flags, name):
    """Builds the program in a directory of its own, which is returned."""
    place = work / name
    place.mkdir()
    run(compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", *flags, "-static", "-I", work,
        work / "answers.c", work / "bloomery.c", "-lm", "-o", place / "answers")
    return place


here = build(CC, [], "host")
expected = run(here / "answers", cwd=here)
files = run(here / "answers", *KINDS, cwd=here)
tried = 0
for compiler, flags, emulator in MACHINES:
    if not shutil.which(compiler) or not shutil.which(emulator):
        print(f"{compiler} or {emulator} is not installed")
        continue
    tried += 1
    there = build(compiler, flags, compiler)
    said = run(emulator, there / "answers", cwd=there)
    check(said == expected, f"{compiler} answers otherwise:\n{said}\nexpected:\n{expected}")
    ours = run(emulator, there / "answers", *[here / name for name in KINDS], cwd=there)
    check(ours == files, f"{compiler} reads our files otherwise:\n{ours}\nexpected:\n{files}")
    theirs = run(here / "answers", *[there / name for name in KINDS], cwd=here)
    check(theirs == files, f"we read {compiler}'s files otherwise:\n{theirs}\nexpected:\n{files}")
sys.exit(0 if tried == len(MACHINES) else 77)
