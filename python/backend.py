# SPDX-License-Identifier: MIT
"""Builds the wheel and the sdist (PEP 517), with a C compiler and the standard library.

setuptools would do, but pip fetches it anew for every build, and this package must build without a
network. The library comes in as its amalgamation: one C file, made by tools/amalgamate in a
checkout, and carried along in the sdist.
"""
import base64
import hashlib
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent                      # in a checkout
CARRIED = HERE / "lib"                  # in an sdist
NAME = "bloomery"
STAMP = (1980, 1, 1, 0, 0, 0)           # two builds give the same bytes
# What the library can use beyond xxhash.h: macro, header, how to link it. All of them are on every
# Debian; a wheel that leaves this machine should need nothing but libc and zlib.
OPTIONAL = [("BLOOMERY_WITH_ZLIB", "zlib.h", ["-lz"]),
            ("BLOOMERY_WITH_MD", "md5.h", ["-Wl,-Bstatic", "-lmd", "-Wl,-Bdynamic"])]


def in_checkout():
    return (TREE / "tools" / "amalgamate").is_file() and (TREE / "src").is_dir()


# Objects, kept for the next build. In a checkout where all builds are: tools read python/. Builds with flags of
# their own (sanitizers) have a folder of their own, so that two may run at once.
BUILD = TREE / "build" / "python" / "objects" if in_checkout() else HERE / "build"
if os.environ.get("CFLAGS"):
    # Flags that only say where the tree is make no other objects, and the name gets into their debug symbols.
    flags = " ".join(f for f in os.environ["CFLAGS"].split() if "-prefix-map=" not in f)
    BUILD = BUILD.with_name(f"{BUILD.name}-{hashlib.sha256(flags.encode()).hexdigest()[:8]}")


def headers():
    return TREE / "include" if in_checkout() else CARRIED / "include"


def version():
    text = (headers() / "bloomery.h").read_text()
    return re.search(r'#define BLM_VERSION\s+"([^"]+)"', text).group(1)


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"bloomery: this command failed:\n  {shlex.join(map(str, command))}\n{done.stdout}")


def compiler():
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


def links(header, flags):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.c"
        source.write_text(f"#include <stddef.h>\n#include <stdint.h>\n#include <sys/types.h>\n#include <{header}>\nint a(void) {{ return 0; }}\n")
        return subprocess.run([*compiler(), "-fPIC", "-shared", str(source), "-o", f"{folder}/a.so",
                               *flags], capture_output=True).returncode == 0


def amalgamation():
    """The folder with bloomery.c and its bloomery.h, xxhash.h beside them in an sdist."""
    if not in_checkout():
        return CARRIED
    out = BUILD / "amalgamation"
    run([sys.executable, TREE / "tools" / "amalgamate", "--root", TREE, "--out", out])
    return out


def newer(target, sources):
    return target.exists() and all(s.stat().st_mtime <= target.stat().st_mtime for s in sources)


def build_extension():
    """Compiles what changed and links bloomery/_core.abi3.so; returns its path."""
    BUILD.mkdir(parents=True, exist_ok=True)
    library = amalgamation()
    base = [*compiler(), "-std=gnu11", "-O2", "-fPIC", "-fno-plt", "-fvisibility=hidden",
            *shlex.split(os.environ.get("CFLAGS", ""))]
    defines, link = [], []
    for macro, header, flags in OPTIONAL:
        if links(header, flags):
            defines.append(f"-D{macro}")
            link += flags
    jobs = []
    flags = BUILD / "flags"             # other flags are other objects
    if not flags.exists() or flags.read_text() != repr(base + defines):
        for old in BUILD.glob("*.o"):
            old.unlink()
        flags.write_text(repr(base + defines))
    stamp = BUILD / "bloomery.sum"      # the amalgamation is written anew each time
    digest = hashlib.sha256((library / "bloomery.c").read_bytes()).hexdigest()
    objects = [BUILD / "bloomery.o"]
    if not objects[0].exists() or not stamp.exists() or stamp.read_text() != digest:
        jobs.append([*base, *defines, f"-I{library}", "-c", library / "bloomery.c", "-o", objects[0]])
    python = sysconfig.get_paths()["include"]
    shared = [HERE / "core" / "core.h", *headers().rglob("*.h")]
    for source in sorted((HERE / "core").glob("*.c")):
        target = BUILD / (source.stem + ".core.o")
        objects.append(target)
        if not newer(target, [source, *shared]):
            jobs.append([*base, f"-I{headers()}", f"-I{python}", "-c", source, "-o", target])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, jobs))
    stamp.write_text(digest)
    exports = BUILD / "exports.map"     # no name of ours may meet a libbloomery in the process
    exports.write_text("{ global: PyInit__core; local: *; };\n")
    out = BUILD / "_core.abi3.so"
    run([*compiler(), "-shared", *objects, "-o", out, f"-Wl,--version-script={exports}",
         *shlex.split(os.environ.get("LDFLAGS", "")), *link, "-lm", "-lpthread"])
    return out


def metadata():
    readme = (HERE / "README.md").read_text()
    return f"""Metadata-Version: 2.1
Name: {NAME}
Version: {version()}
Summary: Membership filters: is this key in the set, without the set
License: MIT
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""


def tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp39-abi3-{platform}"


def wheel_files(extension):
    files = {f"{NAME}/_core.abi3.so": extension.read_bytes()}
    for path in sorted((HERE / NAME).rglob("*")):
        if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed":
            files[f"{NAME}/{path.relative_to(HERE / NAME)}"] = path.read_bytes()
    return files


def write_wheel(folder, files):
    info = f"{NAME}-{version()}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: bloomery\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag()}\n").encode()
    licence = TREE / "LICENSE" if in_checkout() else HERE / "LICENSE"
    files[f"{info}/LICENSE"] = licence.read_bytes()
    rows = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}\n")
    rows.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = "".join(rows).encode()
    name = f"{NAME}-{version()}-{tag()}.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, content)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, wheel_files(build_extension()))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package stays where it is; the extension is put beside it."""
    target = HERE / NAME / "_core.abi3.so"
    target.write_bytes(build_extension().read_bytes())
    return write_wheel(wheel_directory, {f"__editable__.{NAME}.pth": f"{HERE}\n".encode()})


def xxhash_header():
    """xxhash.h as the compiler finds it; the sdist carries it (BSD-2, its licence is in it)."""
    out = subprocess.run([*compiler(), "-M", "-x", "c", "-"], input="#include <xxhash.h>\n",
                         capture_output=True, text=True).stdout
    found = [w for w in out.split() if w.endswith("xxhash.h")]
    if not found:
        sys.exit("bloomery: xxhash.h is not there; on Debian: apt-get install libxxhash-dev")
    return Path(found[0])


def build_sdist(sdist_directory, config_settings=None):
    root = f"{NAME}-{version()}"
    library = amalgamation()
    xxhash = xxhash_header() if in_checkout() else CARRIED / "xxhash.h"
    files = {"lib/bloomery.c": library / "bloomery.c", "lib/bloomery.h": library / "bloomery.h",
             "lib/xxhash.h": xxhash,
             "LICENSE": TREE / "LICENSE" if in_checkout() else HERE / "LICENSE"}
    for path in sorted(headers().rglob("*.h")):
        files[f"lib/include/{path.relative_to(headers())}"] = path
    for pattern in ("pyproject.toml", "backend.py", "README.md", "core/*.[ch]", f"{NAME}/*.py*",
                    f"{NAME}/py.typed"):
        for path in sorted(HERE.glob(pattern)):
            files[str(path.relative_to(HERE))] = path
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder) / "PKG-INFO"
        info.write_text(metadata())
        files["PKG-INFO"] = info
        with tarfile.open(Path(sdist_directory) / f"{root}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as out:
            for name, path in files.items():
                entry = tarfile.TarInfo(f"{root}/{name}")
                entry.size = path.stat().st_size
                entry.mode = 0o644
                with path.open("rb") as content:
                    out.addfile(entry, content)
    return f"{root}.tar.gz"


if __name__ == "__main__":              # python3 backend.py FOLDER: a wheel and an sdist, there
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILD
    target.mkdir(parents=True, exist_ok=True)
    print(target / build_wheel(target))
    print(target / build_sdist(target))
