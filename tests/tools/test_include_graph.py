# SPDX-License-Identifier: MIT
"""tools/include-graph accepts this tree, and refuses one with any arrow turned round."""
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
check("api      ->  codec (1), kind (1)" in run(sys.executable, GRAPH, "--root", small_tree("good")),
      "the small tree's picture")

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
    ("src/core/b.c", '#include "core/gone.h"', "not in the tree"),
    ("src/kind/b.c", "#include <immintrin.h>", "intrinsics live in src/core/kernel"),
]
for number, (path, text, words) in enumerate(WRONG):
    root = small_tree(f"wrong{number}")
    write(root / path, text + "\n")
    said = run(sys.executable, GRAPH, "--root", root, fails=True)
    check(words in said, f"{path} with {text}: expected '{words}', got '{said}'")
