# SPDX-License-Identifier: MIT
"""What the test scripts share: where things are, how to run a command, a place to work in.

CTest sets BLM_SOURCE, BLM_BUILD and CC; by hand, a script takes the tree it stands in and build/.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("BLM_SOURCE", Path(__file__).resolve().parent.parent))
BUILD = Path(os.environ.get("BLM_BUILD", SOURCE / "build"))
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "c++")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compilers():
    """CC, and clang where there is one (make test sees that there is)."""
    other = shutil.which("clang")
    return [CC] + ([other] if other and "clang" not in Path(CC).name else [])


def before_all(library):
    """The environment of a program that loads this library before every other one. AddressSanitizer, if the
    program has it, wants to be the first and is told to bear it."""
    options = [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]
    return {**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": ":".join(filter(None, options))}


def scratch(name):
    """An empty directory of this name in the build tree."""
    path = BUILD / "scratch" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def run(*command, fails=False, **options):
    """Runs a command and returns its standard output (with fails: its standard error). Anything
    but the expected outcome ends the test with what the command said."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          check=False, **options)
    if (done.returncode != 0) != fails:
        sys.exit(f"{'succeeded' if fails else f'exit {done.returncode}'}: {' '.join(command)}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stderr if fails else done.stdout


def tracked():
    """The files that git knows; outside a git checkout all that are not in a build tree."""
    names = []
    if shutil.which("git"):
        names = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z"], capture_output=True,
                               text=True, check=False).stdout.split("\0")
    if not any(names):
        names = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*")]
        names = [name for name in sorted(names)
                 if not name.startswith((".git/", "build")) and "__pycache__" not in name]
    return [SOURCE / name for name in names if (SOURCE / name).is_file()]


def skip(why):
    """Ends the test as skipped."""
    print(f"skipped: {why}")
    sys.exit(77)


def check(truth, words):
    if not truth:
        sys.exit(f"failed: {words}")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
