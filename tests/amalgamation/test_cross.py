# SPDX-License-Identifier: MIT
"""Other machines give the same answers, read each other's files, and read and write other systems'
golden filters to the same bytes: one big-endian with 64 bits (s390x), one little-endian with 32 (i686),
by cross compilers and qemu. On the one with 32 bits, what it cannot address is refused by name. The
two-file form makes this cheap: it needs nothing but xxhash.h, and is compiled once a machine. Skipped
(77) where there is no cross compiler; `make test` installs them on Debian. `tools/machines` runs the
whole suite there."""
import concurrent.futures
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))
from harness import BUILD, CC, SOURCE, STRICT, check, run, scratch  # noqa: E402
from vectors import every_case  # noqa: E402

# compiler, its flags, the emulator.
HOST = (CC, [], [])
SSE = ["-msse2", "-mfpmath=sse"]
MACHINES = [
    ("s390x-linux-gnu-gcc", [], ["qemu-s390x"]),
    ("i686-linux-gnu-gcc", SSE, ["qemu-i386"]),
]
KINDS = ["classic.blm", "blocked.blm", "counting.blm", "scalable.blm"]
PROGRAMS = {"answers": SOURCE / "tests/amalgamation/answers.c",
            "peer": SOURCE / "tests/interop/peer.c",
            "address": SOURCE / "tests/unit/api/test_address.c"}

work = scratch("cross")
run(sys.executable, SOURCE / "tools/amalgamate", "--out", work)
shutil.copy(next(Path(d) / "xxhash.h" for d in ("/usr/include", "/usr/local/include")
                 if (Path(d) / "xxhash.h").is_file()), work)


def build(machine):
    """Builds the programs in a directory of the machine's own, which is returned. A conversion that
    loses bits on one machine only is seen there."""
    compiler, flags, _ = machine
    place = work / Path(compiler).name
    place.mkdir()
    # Optimised, it is compiled for these machines by `tools/machines`; here that took 22 s of processor time more.
    options = ["-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O0", *STRICT,
               "-Wshadow", "-Wconversion", *flags, "-I", work, "-I", SOURCE / "tests/kernel/shim",
               f'-DTEST_DATA="{SOURCE}/tests"']
    run(compiler, *options, "-c", work / "bloomery.c", "-o", place / "bloomery.o")
    for name, source in PROGRAMS.items():
        run(compiler, *options, "-static", source, place / "bloomery.o", "-lm", "-o", place / name)
    return place


def vectors_agree(machine, place):
    script, expected = every_case(place)
    done = subprocess.run([*machine[2], str(place / "peer")], input=script, text=True,
                          capture_output=True, check=False)
    check(done.returncode == 0, f"{machine[0]}: {done.stderr}")
    check(len(expected) > 170, f"only {len(expected)} comparisons")
    for path, content in expected:
        check(path.read_bytes() == content, f"{machine[0]}: {path} is not the golden bytes")


there = [m for m in MACHINES if shutil.which(m[0]) and shutil.which(m[2][0])]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    places = list(pool.map(build, [HOST, *there]))
here = places[0]
expected = run(here / "answers", cwd=here)
run(CC, "-std=c11", *STRICT, "-I", SOURCE / "include", PROGRAMS["answers"], "-L", BUILD, "-lbloomery",
    f"-Wl,-rpath,{BUILD}", "-o", here / "library")
said = run(here / "library", cwd=here)
check(said == expected, f"the two-file form answers otherwise than the library:\n{expected}\n{said}")
files = run(here / "answers", *KINDS, cwd=here)
vectors_agree(HOST, here)
for machine, place in zip(there, places[1:]):
    compiler, flags, emulator = machine
    said = run(*emulator, place / "answers", cwd=place)
    check(said == expected, f"{compiler} answers otherwise:\n{said}\nexpected:\n{expected}")
    ours = run(*emulator, place / "answers", *[here / name for name in KINDS], cwd=place)
    check(ours == files, f"{compiler} reads our files otherwise:\n{ours}\nexpected:\n{files}")
    theirs = run(here / "answers", *[place / name for name in KINDS], cwd=here)
    check(theirs == files, f"we read {compiler}'s files otherwise:\n{theirs}\nexpected:\n{files}")
    vectors_agree(machine, place)
    tried = run(*emulator, place / "address")
    if flags == SSE:  # a 32-bit machine: nothing of it is skipped
        check("skipped" not in tried and tried.count("passed") == 6, f"{compiler}: {tried}")
        words = run(compiler, "-std=c11", "-I", work, "-E", work / "bloomery.c", fails=True)
        check("-msse2 -mfpmath=sse" in words, f"{compiler}: the x87 is not refused: {words}")
for machine in MACHINES:
    if machine not in there:
        print(f"{machine[0]} or its emulator is not installed")
sys.exit(0 if len(there) == len(MACHINES) else 77)
