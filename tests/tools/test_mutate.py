# SPDX-License-Identifier: MIT
"""Every mutation of tests/mutations still applies and names a test that exists; and tools/mutate
names each one that does not. Running them all takes minutes: that is `tools/mutate`, by hand."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, check, run, scratch, write  # noqa: E402

MUTATE = SOURCE / "tools/mutate"

run(sys.executable, MUTATE, "--root", SOURCE, "--check")
rows = [line.split() for line in
        run(sys.executable, MUTATE, "--root", SOURCE, "--list").splitlines()]
check(len(rows) >= 80, f"only {len(rows)} mutations were read")
ALONE = ("unit.", "adapter.", "torture.", "cli.", "redis.", "load.")
check(all(test.startswith(ALONE) for _, test, _ in rows),
      "only unit tests, adapters', the torture, scripts for the command line and Redis, and loads can be run alone")

# A small tree, with every way in which a mutation can go stale: all are named, with file and script.
root = scratch("mutate")
write(root / "src/a.c", "int a(int x)\n{\n    return   x + 1;\n}\n")
write(root / "tests/unit/test_a.c", "")
write(root / "tests/mutations/a.txt", r"""# The subject.

# A comment.
name: good
file: src/a.c
sed:  s/return *x + 1;/return x + 2;/
test: unit.a

name: stale
file: src/a.c
sed:  s/x + 1/x + 3/
sed:  s/x + 1/x + 2/
test: unit.a

name: moved
file: src/b.c
sed:  s/x/y/
test: unit.a

name: no-script
file: src/a.c
sed:  s/x
test: unit.a

name: no-test
file: src/a.c
sed:  s/x/y/
test: unit.b

name: good
file: src/a.c
sed:  s/x/y/
test: unit.a
""")
done = subprocess.run([sys.executable, MUTATE, "--root", root, "--check"], capture_output=True,
                      text=True, check=False)
check(done.returncode == 1, f"exit {done.returncode}: {done.stderr}")
for words in ["a.txt:9: stale: changes nothing: s/x + 1/x + 2/\n    file: src/a.c\n"
              "    sed:  s/x + 1/x + 3/\n    sed:  s/x + 1/x + 2/\n",
              "moved: no such file\n    file: src/b.c\n    sed:  s/x/y/\n",
              "no-script: sed: ", "no-test: no such test: unit.b",
              "good: a second mutation of this name", "5 of 6 mutations do not apply"]:
    check(words in done.stdout, f"expected '{words}', got:\n{done.stdout}")
said = run(sys.executable, MUTATE, "--root", root, "--show", "good")
check("-    return   x + 1;\n+    return x + 2;\n" in said, f"--show said:\n{said}")

write(root / "tests/mutations/b.txt", "name: what\nfiel: src/a.c\n")
said = run(sys.executable, MUTATE, "--root", root, "--list", fails=True)
check("b.txt:2: what is" in said, f"a misspelt field: {said}")
write(root / "tests/mutations/b.txt", "name: what\nfile: src/a.c\n")
said = run(sys.executable, MUTATE, "--root", root, "--list", fails=True)
check("lacks sed, test" in said, f"a mutation without a script: {said}")
