# SPDX-License-Identifier: MIT
"""Instructions a key stay within 5% of those recorded in bench/results/counts.json, on the portable
and the AVX2 kernel. Skipped under another compiler than the recorded one: tools/counts says why.
First, that leaving the band is seen at all, in both directions."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

source, build = Path(os.environ["BLM_SOURCE"]), Path(os.environ["BLM_BUILD"])
loader = importlib.machinery.SourceFileLoader("counts", str(source / "tools/counts"))
counts = importlib.util.module_from_spec(importlib.util.spec_from_loader("counts", loader))
loader.exec_module(counts)

same = {"avx2: a": 100.0, "avx2: b": 10.0}
for now, wrong in [
    (same, 0),
    ({"avx2: a": 104.9, "avx2: b": 10.9}, 0),
    ({"avx2: a": 105.1, "avx2: b": 10.0}, 1),
    ({"avx2: a": 94.9, "avx2: b": 10.0}, 1),
    ({"avx2: a": 100.0, "avx2: b": 11.1}, 1),
    ({"avx2: a": 100.0}, 1),
    ({**same, "avx2: c": 1.0}, 1),
]:
    said = counts.left_the_band(now, same)
    if len(said) != wrong:
        sys.exit(f"{now} against {same}: {said}")

sys.exit(subprocess.run([sys.executable, source / "tools/counts", "--check", "--build", build])
         .returncode)
