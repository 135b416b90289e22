# SPDX-License-Identifier: MIT
"""tools/include-graph accepts this tree and the pictures of it in the pages, refuses a tree with any
arrow turned round, and notices a picture that is old."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, check, run, scratch, write  # noqa: E402

GRAPH = SOURCE / "tools/include-graph"
GUARDED = "#ifndef H\n#define H\n{}\n#endif\n"


def small_tree(name):
    root = scratch(f"include-graph/{name}")
    write(root / "include/bloomery.h", GUARDED.format("int blm_x(void);"))
    write(root / "src/core/a.h", GUARDED.format('#include "bloomery.h"'))
    for layer in ("maths", "scheme", "engine", "kind", "store", "codec", "api", "guard"):
        write(root / f"src/{layer}/{layer}.h", GUARDED.format(""))
    write(root / "src/api/filter.c", '#include "kind/kind.h"\n#include "codec/codec.h"\n')
    write(root / "src/kind/x.c", '#include "kind/kind.h"\n#include "scheme/scheme.h"\n')
    write(root / "cli/cli.h", GUARDED.format(""))
    write(root / "cli/main.c", '#include "bloomery.h"\n#include "cli.h"\n')
    return root


print(run(sys.executable, GRAPH))
good = small_tree("good")
check("api      ->  codec (1), kind (1)" in run(sys.executable, GRAPH, "--root", good),
      "the small tree's arrows")

# The picture: what is there, nothing else; into the pages, once; and old after one more file.
PICTURE = """\
        files  holds                              includes
cli         2  the command line                   bloomery.h
── the library ────────────────────────────────────────────────────
include     1  the public headers
guard       1  the read-through of a data set
api         1  the public calls                   codec kind
codec       1  reads and writes each format
store       1  where layers live: memory, files
kind        2  what a filter is to its user                  scheme
engine      1  how a layer finds its cells
scheme      1  the rules from a key to positions
maths       1  rates, sizes, plans
core        1  the body, bytes, memory, the OS    bloomery.h
"""
(good / "src/api/api.h").unlink()
said = run(sys.executable, GRAPH, "--root", good, "--picture")
check(said == PICTURE, f"the small tree's picture:\n{said}")
for name in ("docs/architecture.md", "CONTRIBUTING.md"):
    write(good / name, "Before.\n\n<!-- layers:begin -->\n<!-- layers:end -->\n\nAfter.\n")
said = run(sys.executable, GRAPH, "--root", good, fails=True)
check("docs/architecture.md shows the layers as they were" in said, said)
check("CONTRIBUTING.md shows the layers as they were" in said, said)
for _ in range(2):
    run(sys.executable, GRAPH, "--root", good, "--write")
    said = (good / "CONTRIBUTING.md").read_text()
    check(said == f"Before.\n\n<!-- layers:begin -->\n```\n{PICTURE}```\n<!-- layers:end -->\n\nAfter.\n",
          f"the page:\n{said}")
run(sys.executable, GRAPH, "--root", good)
write(good / "src/core/b.c", '#include "core/a.h"\n')
said = run(sys.executable, GRAPH, "--root", good, fails=True)
check("CONTRIBUTING.md shows the layers as they were" in said, said)
write(good / "CONTRIBUTING.md", "No picture.\n")
said = run(sys.executable, GRAPH, "--root", good, fails=True)
check("CONTRIBUTING.md needs layers:begin" in said, said)

WRONG = [
    ("src/core/b.c", '#include "maths/maths.h"', "core may not include maths"),
    ("src/maths/b.c", '#include "scheme/scheme.h"', "maths may not include scheme"),
    ("src/scheme/b.c", '#include "engine/engine.h"', "scheme may not include engine"),
    ("src/engine/b.c", '# include "kind/kind.h"', "engine may not include kind"),
    ("src/kind/b.c", '#include "store/store.h"', "kind may not include store"),
    ("src/kind/b.c", '#include "../store/store.h"', "kind may not include store"),
    ("src/store/b.c", '#include "codec/codec.h"', "store may not include codec"),
    ("src/codec/b.c", '#include "api/api.h"', "codec may not include api"),
    ("src/api/b.c", '#include "guard/guard.h"', "api may not include guard"),
    ("src/guard/b.c", '#include "kind/kind.h"', "guard may not include kind"),
    ("src/top.c", '#include "core/a.h"', "no row in MAY"),
    ("cli/b.c", '#include "core/a.h"', "cli may not include core"),
    ("examples/b.c", '#include "../src/core/a.h"', "examples may not include core"),
    ("src/policy/b.c", '#include "core/a.h"', "no row in MAY"),
    ("src/core/tiny/b.c", '#include "core/a.h"', "core/tiny has no row in HOLDS"),
    ("src/core/b.c", '#include "core/gone.h"', "not in the tree"),
    ("src/kind/b.c", "#include <immintrin.h>", "intrinsics live in src/core/kernel"),
]
for number, (path, text, words) in enumerate(WRONG):
    root = small_tree(f"wrong{number}")
    write(root / path, text + "\n")
    said = run(sys.executable, GRAPH, "--root", root, fails=True)
    check(words in said, f"{path} with {text}: expected '{words}', got '{said}'")
