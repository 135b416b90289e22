# SPDX-License-Identifier: MIT
"""What a command writes does not get there: a full device, a closed or broken output, a limit on the
size of files, and each call that opens, maps, writes, flushes or renames failing once. The command
says so and exits with 2, and a file that was there is whole; or nothing is different. A reader that
leaves is not trouble, and calls that do a part of their work are not noticed."""
import errno
import os
import resource
import subprocess

from commands import CASES, NONE, Bench
from tool import BLOOMERY, check, scratch

LONG = os.environ.get("BLM_LONG") == "1"
work = scratch("cli.outputs")
bench = Bench(work)

# ---- standard output


def to(name, output, **options):
    words, _, _, source = CASES[name]
    with open(source or "/dev/null", "rb") as stdin:
        return subprocess.run([BLOOMERY, *words.split()], stdin=stdin, stdout=output,
                              stderr=subprocess.PIPE, check=False, timeout=60, **options)


for name in CASES:
    if not bench.want[name][1].one:
        continue
    with open("/dev/full", "wb") as full:
        done = to(name, full)
    check(done.returncode == 2 and done.stderr.count(b"standard output: no space left") == 1,
          f"{name}, a full device: exit {done.returncode}: {done.stderr.decode()}")
    bench.restore()
    done = to(name, None, preexec_fn=lambda: os.close(1))
    check(done.returncode == 2 and b"standard output is closed" in done.stderr,
          f"{name}, closed: exit {done.returncode}: {done.stderr.decode()}")
    bench.restore()
    reader, writer = os.pipe()
    os.close(reader)
    done = to(name, writer)
    os.close(writer)
    check(done.returncode in (0, 1) and b"standard output" not in done.stderr,
          f"{name}, a reader that left: exit {done.returncode}: {done.stderr.decode()}")
    bench.restore()

# ---- a report on standard error, which nobody can be told of there

for wanted in ("--stats", "--json"):
    def report(output, **options):
        return subprocess.run([BLOOMERY, "dedup", wanted], input=b"a\nb\na\n", stdout=subprocess.PIPE,
                              stderr=output, check=False, timeout=60, **options)
    with open("/dev/full", "wb") as full:
        done = report(full)
    check((done.returncode, done.stdout) == (2, b"a\nb\n"), f"{wanted}, a full device: {done}")
    done = report(None, preexec_fn=lambda: os.close(2))
    check((done.returncode, done.stdout) == (2, b"a\nb\n"), f"{wanted}, closed: {done}")
    reader, writer = os.pipe()
    os.close(reader)
    done = report(writer)
    os.close(writer)
    check((done.returncode, done.stdout) == (0, b"a\nb\n"), f"{wanted}, a reader that left: {done}")
# What was not asked for may get lost.
with open("/dev/full", "wb") as full:
    done = subprocess.run([BLOOMERY, "create", "noted.blm", "-n", "9"], stderr=full, check=False)
check(done.returncode == 0, done)
os.remove("noted.blm")

# ---- a limit on the size of files (ulimit -f): an error, not a signal


def limited(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


for name, (words, what, target, source) in CASES.items():
    for size in (0, 100, 3000) if LONG else (0, 3000):
        if what == NONE:
            with open(work / "printed", "wb") as output:
                done = to(name, output, preexec_fn=limited(size))
            fits = len(bench.want[name][1].one) <= size
            check(done.returncode == (bench.want[name][0] if fits else 2) and
                  (fits or b"standard output: " in done.stderr),
                  f"{name}, {size} bytes: exit {done.returncode}: {done.stderr.decode()}")
        else:
            done = to(name, subprocess.PIPE, preexec_fn=limited(size))
            made = open(target, "rb").read() if os.path.exists(target) else None
            bench.judge(name, done, made, f"{size} bytes a file")
        bench.restore()

# ---- each call fails once

for name, (words, what, target, source) in CASES.items():
    for number in ((errno.EIO, errno.ENOSPC) if LONG else (errno.EIO,)):
        at, step = 1, 1
        while True:
            why = errno.ENOSPC if number == errno.EIO and at % 2 else number
            done, made = bench.run(name, what="calls", at=at, **{"with": why})
            failed = bench.failed
            bench.judge(name, done, made, f"call {at} fails with {errno.errorcode[why]}")
            bench.restore()
            if not failed:
                break
            if not LONG and at > 40:  # a build has hundreds, much like each other
                step = 7
            at += step
    check(at > 1, f"{name}: nothing was to fail")

    done, made = bench.run(name, what="short")
    check(done.returncode == bench.want[name][0], f"{name}, by parts: {done.stderr.decode()}")
    bench.judge(name, done, made, "by parts")
    bench.restore()

print(f"{bench.runs} runs")
os.chdir("/")
