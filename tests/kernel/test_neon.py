# SPDX-License-Identifier: MIT
"""The NEON kernel against the portable one, on an emulated AArch64 machine: the unit test
tests/unit/core/kernel/test_neon.c, by a cross compiler and qemu, over a stand-in for cmocka, without its
vast maps, which `tools/machines arm64` has. Skipped (77) where there is neither; `make test` installs
them on Debian."""
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, STRICT, check, run, scratch  # noqa: E402

CROSS, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
HERE = Path(__file__).resolve().parent

if not shutil.which(CROSS) or not shutil.which(EMULATOR):
    print(f"{CROSS} or {EMULATOR} is not installed")
    sys.exit(77)

work = scratch("neon")
header = next(Path(d) / "xxhash.h" for d in ("/usr/include", "/usr/local/include")
              if (Path(d) / "xxhash.h").is_file())
shutil.copy(header, work)
# The kernels, and the engines by which a layer reaches them, with all that they stand on.
sources = [path for folder in ("core", "maths", "scheme", "engine")
           for path in sorted((SOURCE / "src" / folder).rglob("*.c"))] + [SOURCE / "src/store/memory.c"]
run(CROSS, "-std=c11", "-D_GNU_SOURCE", "-O1", "-static", *STRICT, "-I", HERE / "shim", "-I", work,
    "-I", SOURCE / "include", "-I", SOURCE / "src", "-I", SOURCE / "tests",
    SOURCE / "tests/unit/core/kernel/test_neon.c", *sources, "-lm", "-o", work / "neon")
said = run(EMULATOR, work / "neon", env={**os.environ, "BLM_SLOW": "0", "BLM_QUICK": "1"}).split("\n")
for name in ("lines", "lines_out_of_cache", "chains", "single_calls", "words", "hashes", "marks",
             "buckets", "bucket_adds", "ages", "counters"):
    check(f"passed {name}_agree_with_the_oracle" in said,
          f"{name} did not run:\n" + "\n".join(said))
