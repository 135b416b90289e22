# SPDX-License-Identifier: MIT
"""The installed tree is whole, and a user finds the library in it: by pkg-config and by CMake's
find_package, from C and from C++, shared and static. Installed into DESTDIR, so nothing can come
from the build tree or the system by accident. The source tree can also be part of a user's."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / x) for x in (".", "redis")]
from harness import BUILD, CC, CXX, SOURCE, STRICT, check, run, scratch  # noqa: E402

PREFIX = "/opt/bloomery"
HERE = Path(__file__).resolve().parent
version = re.search(r'#define BLM_VERSION +"([^"]+)"',
                    (SOURCE / "include/bloomery.h").read_text()).group(1)
EXPECTED = f"{version} 1\n"

work = scratch("install")
root = work / "root"
run("cmake", "--install", BUILD, "--prefix", PREFIX, env={**os.environ, "DESTDIR": str(root)})
tree = root / PREFIX.lstrip("/")
libdir = next(tree.rglob("libbloomery.a")).parent

# ---- what is there
adapters = [p.stem[len("bloomery-"):] for p in (libdir / "pkgconfig").glob("bloomery-*.pc")]
headers = {p.name for a in adapters for p in (SOURCE / "adapters" / a).glob("bloomery_*.h*")}
check({p.name for p in (tree / "include").iterdir()} == {"bloomery.h", "bloomery"} | headers,
      "the header, the folder beside it, and the adapters' headers")
check({p.name for p in (tree / "include/bloomery").iterdir()} ==
      {p.name for p in (SOURCE / "include/bloomery").iterdir()}, "every public header")
for name in ["libbloomery.a", "libbloomery.so", "pkgconfig/bloomery.pc",
             "cmake/bloomery/bloomeryConfig.cmake", "cmake/bloomery/bloomeryConfigVersion.cmake"]:
    check((libdir / name).exists(), f"{name} is installed")
for path in tree.rglob("*"):
    if path.is_file() and path.suffix in (".pc", ".cmake", ".h"):
        text = path.read_text()
        for place in (BUILD, SOURCE, root):
            check(str(place) not in text, f"{path} does not mention {place}")

# ---- the module, as `redis-server --loadmodule` takes it:
# a server refuses one that it may not execute
if (BUILD / "redis" / "bloomery.so").exists():
    import server  # noqa: E402
    server.MODULE = str(libdir / "bloomery" / "bloomery.so")
    with server.Server() as redis:
        check(redis.client()("BF.ADD", "k", "x") == 1, "the installed module is loaded")

# ---- the shared library's name is its ABI, not its version
soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", libdir / "libbloomery.so")).group(1)
abi = re.search(r"set\(BLOOMERY_ABI (\d+)\)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
check(soname == f"libbloomery.so.{abi}", f"SONAME is {soname}")
check((libdir / soname).exists(), f"{soname} is installed")


def pkg_config(*words, module="bloomery"):
    env = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(root),
           "PKG_CONFIG_PATH": str(libdir / "pkgconfig")}
    return run("pkg-config", *words, module, env=env).split()


def answers(program, shared):
    """Runs it; a program that uses the shared library must name it, another must not."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(libdir)}
    check(run(program, env=env) == EXPECTED, f"{program} says {EXPECTED}")
    needed = f"[{soname}]" in run("readelf", "-d", program)
    check(needed == shared, f"{program} {'uses' if shared else 'does not use'} {soname}")


# ---- an adapter's header and libraries are found by its own .pc
for adapter in adapters:
    source = work / f"{adapter}.c"
    source.write_text(f"#include <bloomery_{adapter}.h>\nint main(void) {{ return 0; }}\n")
    run(CC, "-std=gnu11", *STRICT, source, *pkg_config("--cflags", "--libs",
        module=f"bloomery-{adapter}"), "-o", work / adapter)
    check((libdir / f"libbloomery-{adapter}.so").exists(), f"libbloomery-{adapter}.so")

# ---- pkg-config
check(pkg_config("--modversion") == [version], "pkg-config knows the version")
shutil.copy(HERE / "program.c", work / "program.cc")
shutil.copy(HERE / "program.c", work / "program.c")
for compiler, source in [([CC, "-std=c11"], "program.c"), ([CXX, "-std=c++11"], "program.cc")]:
    common = [*compiler, *STRICT, work / source]
    run(*common, *pkg_config("--cflags", "--libs"), "-o", work / "shared")
    answers(work / "shared", shared=True)
    flags = ["-l:libbloomery.a" if f == "-lbloomery" else f
             for f in pkg_config("--static", "--cflags", "--libs")]
    run(*common, *flags, "-o", work / "static")
    answers(work / "static", shared=False)
    run(*common, "-static", *pkg_config("--static", "--cflags", "--libs"), "-o", work / "alone")
    answers(work / "alone", shared=False)

# ---- CMake: find_package, and the source tree inside another project, which says how it is compiled
for name, place in [("user", f"-DCMAKE_PREFIX_PATH={tree}"), ("vendored", f"-DVENDORED={SOURCE}")]:
    run("cmake", "-S", HERE / "package", "-B", work / name, place, f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_C_FLAGS=-O0", f"-DPROGRAM={HERE / 'program.c'}",
        f"-DADAPTERS={';'.join(adapters if name == 'user' else [])}")
    run("cmake", "--build", work / name, "-j2")
    for language in ("c", "cc"):
        answers(work / name / f"shared_{language}", shared=True)
        answers(work / name / f"static_{language}", shared=False)

# ---- a prefix where the loader does not look: what the last words of the installation say works
home = work / "home"
plain = {k: v for k, v in os.environ.items() if k not in ("DESTDIR", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH")}
said = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(home)], capture_output=True,
                      text=True, check=True, env=plain)
lines = (said.stdout + said.stderr).rstrip().splitlines()
check("ldconfig" in lines[-4] and lines[-2].startswith("  export PKG_CONFIG_PATH=") and
      lines[-1].startswith("  cc app.c "), lines[-6:])
shutil.copy(HERE / "program.c", work / "app.c")
last = lines[-1].strip().replace("cc ", f"{CC} ", 1)
script = f"{lines[-2].strip()}\n{last} && ./a.out"
check(run("sh", "-c", script, cwd=work, env=plain) == EXPECTED, "the line of the last words")
without = re.sub(r"-Wl,-rpath,\S+", "", script)
failed = subprocess.run(["sh", "-c", without], cwd=work, env=plain, capture_output=True, text=True,
                        check=False)
check(failed.returncode != 0 and soname in failed.stderr, "and it is needed")

# ---- and off again: all that was installed, with folders of its own, and nothing else
def make(target, **places):
    return subprocess.run(["make", "-o", "build", target, "SETUP=:", f"BUILD={BUILD}",
                           f"INSTALLED={work / 'installed.txt'}",
                           *[f"{name}={place}" for name, place in places.items()]],
                          cwd=SOURCE, env=plain, capture_output=True, text=True, check=False)


missing = make("uninstall")
check(missing.returncode != 0 and "installed.txt, which make install writes" in missing.stderr,
      missing.stderr)
for top, places in [(work / "direct", {"PREFIX": work / "direct"}),
                    (work / "stage/usr/local", {"PREFIX": "/usr/local", "DESTDIR": work / "stage"})]:
    (top / "include").mkdir(parents=True)
    (top / "include/other.h").write_text("")
    done = make("install", **places)
    check(done.returncode == 0 and (top / "include/bloomery/guard.h").exists(), done.stderr)
    done = make("uninstall", **{k: v for k, v in places.items() if k == "DESTDIR"})
    check(done.returncode == 0 and done.stdout.startswith("removed "), (done.stdout, done.stderr))
    left = [p for p in top.rglob("*") if not p.is_dir() or "bloomery" in p.name]
    check(left == [top / "include/other.h"], left)
    check(make("uninstall").returncode != 0, "once only")

# ---- the lines that the READMEs give, as they stand, for the program that they show
run(sys.executable, SOURCE / "tools/amalgamate", "--out", work / "two")
pages = {name: (SOURCE / name).read_text() for name in ("README.md", "README.zh-CN.md")}
given = {name: re.findall(r"`(cc [^`]*app\.c [^`]*)`", page) for name, page in pages.items()}
check(given["README.md"] == given["README.zh-CN.md"] and len(given["README.md"]) == 2, given)
linked, copied = (line.replace("cc ", f"{CC} ", 1) for line in given["README.md"])
linked = f"{lines[-2].strip()}\n{linked} {re.search(r'-Wl,-rpath,.*', last).group()}"
copied = copied.replace("-O2", "-O0")  # half a minute less
program = re.search(r"^```c\n(.*?)^```$", pages["README.md"], re.M | re.S).group(1)
for place, line in [(work, linked), (work / "two", copied)]:
    (place / "app.c").write_text(program)
    said = run("sh", "-c", f"{line} && ./a.out", cwd=place, env=plain)
    check(said == "tuesday: maybe\nfriday:  no\n", (line, said))
for name, page in pages.items():
    check("ldconfig" in page and "-Wl,-rpath,LIBDIR" in page, f"{name} says where a library is found")
    for header in sorted((SOURCE / "include/bloomery").glob("*.h")):
        check(f"(include/bloomery/{header.name})" in page, f"{name} names {header.name}")
