# SPDX-License-Identifier: MIT
"""The headers and the library say the same: every function declared BLM_API is exported by the
shared library, and nothing else is; the static one defines no global name without our prefix."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, SOURCE, check, run  # noqa: E402


def defined(library, *flags):
    out = run("nm", *flags, "--defined-only", "--extern-only", "--format=posix", library)
    return {line.split()[0] for line in out.splitlines() if len(line.split()) > 1}


texts = [p.read_text() for p in sorted((SOURCE / "include").rglob("*.h"))]
header = re.sub(r"/\*.*?\*/", " ", "\n".join(texts), flags=re.S)
declared = set(re.findall(r"^BLM_API\b[^;(]*?(\w+)\s*\(", header, re.M))
check(len(declared) == len(re.findall(r"^BLM_API\b", header, re.M)),
      "every BLM_API line was understood")

exported = defined(BUILD / "libbloomery.so", "--dynamic")
check(exported == declared,
      f"declared and not exported: {sorted(declared - exported)}; "
      f"exported and not declared: {sorted(exported - declared)}")
foreign = {name for name in defined(BUILD / "libbloomery.a") if not name.startswith("blm_")}
check(not foreign, f"global names without the prefix blm_: {sorted(foreign)}")
private = {name for name in exported if "__" in name}
check(not private, f"internal names are exported: {sorted(private)}")
