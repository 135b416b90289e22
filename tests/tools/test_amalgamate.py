# SPDX-License-Identifier: MIT
"""tools/amalgamate on small trees: private names that meet are kept apart, what cannot be kept
apart is refused, and the result compiles and computes what the separate files would."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import CC, SOURCE, STRICT, check, run, scratch, write  # noqa: E402

AMALGAMATE = SOURCE / "tools/amalgamate"
HEADER = """#ifndef BLOOMERY_H
#define BLOOMERY_H
#define BLM_VERSION "9.9.9"
int blm_a(void);
int blm_b(void);
#endif
"""
# Every sort of private name, all of them in both files, with different values; one static is named
# as a function of the C library that only a third file includes, one as a member. The header
# without a guard is a template, there once for each includer.
BODY = """/* SPDX-License-Identifier: MIT */
#include "core/shared.h"
{include}
#define SCALE {n}
#define TWICE(x) (scaled(x) * 2)
#define BY_ANOTHER BLM__INLINE
enum {{ WIDTH = {n}, HEIGHT }};
enum color {{ RED = {n} }};
struct point {{ int width, scaled, at[HEIGHT]; int (*remove)(int); }};
typedef struct point point;
#include "core/template.h"
static int scaled(int x);
static const int table[] = {{ {n}, WIDTH, "}}{{"[0] == '}}' }}, *const first = table;
static int (*chosen)(int) = scaled;
static int one = 1, many[2] = {{ SCALE, 7 }}, last;
BLM__INLINE int doubled(int x) {{ return 2 * x; }}
BY_ANOTHER int tripled(int x) {{ return 3 * x; }}
static int remove(int x) {{ return x + SCALE; }}
static int __attribute__((noinline)) scaled(int x) {{ return x * SCALE; }}
int blm_{name}(void)
{{
    point p = {{ .width = WIDTH, .scaled = scaled(1), .remove = remove }};
    struct point *q = &p; /* scaled("comment") */
    last = RED + (enum color)0;
    return q->remove(p.scaled) + TWICE(3) + table[0] + *first + chosen(1) + one + many[0] + last +
           doubled(HEIGHT) + tripled(SCALE) + from_template(1);
}}
"""
SHARED = """#ifndef SHARED_H
#define SHARED_H
#include "bloomery.h"
#define BLM__INLINE static inline
#endif
"""


def value(n):
    """What blm_a and blm_b return, for their n."""
    return (n + n) + 2 * 3 * n + n + n + n + 1 + n + n + 2 * (n + 1) + 3 * n + (1 + n)


def two_files(name):
    root = scratch(f"amalgamate/{name}")
    write(root / "include/bloomery.h", HEADER)
    write(root / "src/core/shared.h", SHARED)
    write(root / "src/core/template.h", "static int from_template(int x) { return x + SCALE; }\n")
    write(root / "src/core/a.c", BODY.format(name="a", n=3, include="#include <stdlib.h>"))
    write(root / "src/kind/b.c", BODY.format(name="b", n=4, include=""))
    write(root / "src/codec/c.c", '#include <stdio.h>\n#include "core/shared.h"\n'
                                  "static const char text[] = \"c\";\n"
                                  "int blm_c(void);\nint blm_c(void) { return puts(text); }\n")
    return root


root = two_files("good")
run(sys.executable, AMALGAMATE, "--root", root, "--out", root / "out")
write(root / "out/main.c", '#include <stdio.h>\n#include "bloomery.h"\n'
      'int main(void) { printf("%d %d\\n", blm_a(), blm_b()); return 0; }\n')
run(CC, "-std=c11", *STRICT, "-c", "bloomery.c", cwd=root / "out")
run(CC, "main.c", "bloomery.o", "-o", "main", cwd=root / "out")
said = run(root / "out/main")
check(said == f"{value(3)} {value(4)}\n", f"expected {value(3)} {value(4)}, got {said}")

for name, text, words in [
    ("twice", "static int blm__twice;\n", "blm__twice is private to both"),
    ("source", "#define _XOPEN_SOURCE 700\n", "_XOPEN_SOURCE has no effect"),
    ("braces", "#if 1\nint blm_x(void) {\n#else\nint blm_y(void) {\n#endif\nreturn 0; }\n", "brace"),
    ("gone", '#include "core/gone.h"\n', 'cannot find "core/gone.h"'),
]:
    root = two_files(name)
    write(root / "src/kind/d.c", text)
    write(root / "src/kind/e.c", text)
    said = run(sys.executable, AMALGAMATE, "--root", root, "--out", root / "out", fails=True)
    check(words in said, f"{name}: expected '{words}', got '{said}'")
