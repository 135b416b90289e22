# SPDX-License-Identifier: MIT
"""The two-file form is the library: it compiles alone with one command, without a warning, by
either compiler, and a program linked with it prints what it prints linked with the library."""
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, CC, SOURCE, STRICT, check, compilers, run, scratch  # noqa: E402

work = scratch("amalgamation")
run(sys.executable, SOURCE / "tools/amalgamate", "--out", work)
check(sorted(p.name for p in work.iterdir()) == ["bloomery.c", "bloomery.h"], "two files")
again = scratch("amalgamation-again")
run(sys.executable, SOURCE / "tools/amalgamate", "--out", again)
check((work / "bloomery.c").read_bytes() == (again / "bloomery.c").read_bytes(),
      "the same tree gives the same bytes")
shutil.copy(Path(__file__).resolve().parent / "answers.c", work)

run(CC, "-std=c11", *STRICT, "-I", SOURCE / "include", "answers.c", "-L", BUILD, "-lbloomery",
    f"-Wl,-rpath,{BUILD}", "-o", "library", cwd=work)
expected = run(work / "library", cwd=work)
print(expected)

# What strict users say to a second compiler. What they say to this one, test_cross.py does, on the way to its
# machines; the one command of the READMEs is in tests/install/test_install.py.
_, *others = compilers()
for way in ([other, "-std=c11", *STRICT] for other in others):
    run(*way, "-c", "bloomery.c", cwd=work)
    run(way[0], "-std=c11", *STRICT, "-I.", "answers.c", "bloomery.o", "-lm", "-o", "two", cwd=work)
    said = run(work / "two", cwd=work)
    check(said == expected, f"{way}: the two-file form answers otherwise:\n{said}")
