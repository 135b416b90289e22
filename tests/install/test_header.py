# SPDX-License-Identifier: MIT
"""The public headers as their readers meet them: each alone in a file, in C and in C++; its opening example,
and every C program in the README and docs/, compiled and run. And each internal header compiles
alone, so that the order of includes never matters."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, CC, CXX, SOURCE, STRICT, check, compilers, run, scratch, write  # noqa: E402

HEADER = SOURCE / "include/bloomery.h"
INCLUDE = ["-I", SOURCE / "include"]
work = scratch("header")


def runs(name, text):
    """Compiles a program against the shared library, runs it, returns what it printed."""
    source = write(work / f"{name}.c", text)
    flags = ["-L", BUILD, "-lbloomery", f"-Wl,-rpath,{BUILD}"]
    for adapter in re.findall(r"#include <bloomery_(\w+)\.h>", text):
        if not (BUILD / f"libbloomery-{adapter}.so").exists():
            print(f"{name}: skipped, because this build has no adapter {adapter}")
            return ""
        flags = ["-I", SOURCE / "adapters" / adapter, f"-lbloomery-{adapter}", *flags]
        flags += [f"-l{library}" for library in re.findall(r"#include <(sqlite3)\.h>", text)]
    run(CC, "-std=c11", *STRICT, *INCLUDE, source, *flags, "-o", work / name)
    return run(work / name, cwd=work)


# ---- alone, in every language it promises
PUBLIC = ["bloomery.h", *(f"bloomery/{p.name}" for p in sorted((SOURCE / "include/bloomery").glob("*.h")))]
PICKY = [*STRICT, "-Wshadow", "-Wconversion", "-Wundef", *INCLUDE, "-fsyntax-only"]
for name in PUBLIC:
    alone = f"#include <{name}>\nint main(void) {{ return blm_options_init().size == 0; }}\n"
    write(work / "alone.c", alone)
    write(work / "alone.cc", alone)
    for compiler in compilers():
        for standard in ("c11", "gnu17"):
            run(compiler, f"-std={standard}", *PICKY, "-Wstrict-prototypes", work / "alone.c")
    for standard in ("c++11", "c++17", "c++20"):
        run(CXX, f"-std={standard}", *PICKY, "-Wold-style-cast", work / "alone.cc")

# ---- the first is one sitting
lines = len(HEADER.read_text().splitlines())
check(lines <= 620, f"bloomery.h has {lines} lines: what few need goes into a header beside it")

# ---- the example of its opening comment
opening = re.search(r"^ \* {5}#include <bloomery\.h>\n(?: \*(?: {5}.*)?\n)+",
                    HEADER.read_text(), re.M)
code = "\n".join(line[7:] for line in opening.group().splitlines())
includes, body = code.split("\n", 1)
check(includes == "#include <bloomery.h>" and "blm_create" in body, "the example was found")
said = runs("opening", f"{includes}\n#include <stdio.h>\n"
                       f"int main(void)\n{{\n{body}\n    return 0;\n}}\n")
check(said == "maybe\n", f"the opening example says {said!r}")

# ---- programs in the documentation
for page in sorted([*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md")]):
    for number, block in enumerate(re.findall(r"^```c\n(.*?)^```$", page.read_text(), re.M | re.S)):
        if "int main(" in block:
            runs(f"{page.stem}{number}", block)
            print(f"{page.relative_to(SOURCE)}: program {number} compiles and exits 0")

# ---- internal headers, each alone; a template (no guard) belongs to its includer
for header in sorted((SOURCE / "src").rglob("*.h")):
    if "#ifndef" in header.read_text():
        run(CC, "-std=c11", "-D_GNU_SOURCE", *STRICT, *INCLUDE, "-I", SOURCE / "src",
            "-fsyntax-only", "-x", "c", header)
