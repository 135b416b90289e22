# SPDX-License-Identifier: MIT
"""The output of every command is the same for any number of threads, byte for byte: dedup, check, add,
create and remove, from a file and from a pipe, with the options that change what a key is. Also: a
file that shrinks while it is read, and an answer that is due before more input comes."""
import os
import random
import subprocess

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.threads")
os.chdir(work)
THREADS = ("1", "2", "3", "8")
DEDUP = ["dedup", "-p", "1e-12"]

# Some megabytes, so that there are many blocks; lines of many lengths, two thirds of them repeated,
# some empty, some longer than a block; fields; the last one without a newline. There are 19 000
# different ones, and dedup, which takes its seed from the OS, runs at 1e-12: it drops a line of
# them by chance once in 1e11 runs, and runs fifty times here.
chance = random.Random(7)
lines = []
for i in range(60000):
    n = chance.randrange(20000)
    lines.append(b"%d,%s,x%d" % (n, b"p" * (n % 61), n % 977) if n % 50 else b"")
for at in (5000, 30000, 45000):
    lines[at] = b"long,%d," % at + b"z" * (300000 + at)
(work / "in").write_bytes(b"\n".join(lines))
(work / "nul").write_bytes(b"\0".join(lines))
(work / "crlf").write_bytes(b"\r\n".join(lines))
(work / "numbers").write_bytes(b"".join(b"%d\n" % chance.randrange(-10000, 10000)
                                        for _ in range(100000)))
(work / "more").write_bytes(b"\n".join(reversed(lines)) + b"\nand more\n")
tool("create", "some.blm", "-n", "20000", "-p", "1e-4", "--seed", "1", "--quiet", "--from", "in",
     "-f", "1", "-d", ",")
tool("create", "ints.blm", "-n", "20000", "-p", "1e-4", "--seed", "1", "--quiet", "--from",
     "numbers", "-e", "int32")
tool("create", "grown.blm", "--kind", "scalable", "-n", "1000", "-p", "1e-4", "--seed", "1",
     "--quiet", "--from", "in")
tool("create", "java", "-n", "20000", "-p", "1e-3", "--scheme", "guava64", "--quiet",
     "--from", "in")

COMMANDS = [
    [*DEDUP, "-n", "40000", "in"],
    [*DEDUP, "in"],
    [*DEDUP, "in", "more", "in"],
    [*DEDUP, "-D", "in", "more"],
    [*DEDUP, "-f", "3", "-d", ",", "in"],
    [*DEDUP, "-0", "nul"],
    [*DEDUP, "--crlf", "crlf"],
    [*DEDUP, "-e", "int64", "numbers"],
    ["check", "some.blm", "-f", "1", "-d", ",", "more"],
    ["check", "some.blm", "-v", "in"],
    ["check", "some.blm", "-c", "in", "more"],
    ["check", "ints.blm", "-e", "int32", "numbers"],
    ["check", "grown.blm", "more"],
    ["check", "java", "more"],
    ["check", "some.blm", "--line-buffered", "in"],
]


def run(words, source=None):
    with open(source or os.devnull, "rb") as stdin:
        done = subprocess.run([BLOOMERY, *words], stdin=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def piped(words, source):
    cat = subprocess.Popen(["cat", source], stdout=subprocess.PIPE)
    done = subprocess.run([BLOOMERY, *words], stdin=cat.stdout, capture_output=True, check=False)
    cat.wait()
    return done.returncode, done.stdout, done.stderr


for words in COMMANDS:
    want = run([*words, "--threads", "1"])
    check(want[0] == 0 and len(want[1]) > 1, f"{words}: {want[0]} {want[2]}")
    for n in THREADS[1:]:
        check(run([*words, "--threads", n]) == want, f"{words} with {n} threads")
    if words[-1] in ("in", "more", "nul", "numbers") and words[-2] not in ("in", "more"):
        check(piped([*words[:-1], "--threads", "3"], words[-1]) == want, f"{words} from a pipe")

# ---- what dedup prints is right, not only always the same
seen, want = set(), []
for line in lines:
    if line not in seen:
        seen.add(line)
        want.append(line)
check(run([*DEDUP, "in"])[1] == b"\n".join(want) + b"\n", "dedup")

# ---- trouble comes in its place: a bad line, an input that is missing, one that is a directory
bad = (work / "numbers").read_bytes().split(b"\n")
bad[70000] = b"seventy"
(work / "bad").write_bytes(b"\n".join(bad))
for words in ([*DEDUP, "-e", "int32", "bad"], [*DEDUP, "in", "missing", ".", "more"],
              ["check", "ints.blm", "-e", "int32", "numbers", "bad", "numbers"]):
    want = run([*words, "--threads", "1"])
    check(want[0] == 2, f"{words} is trouble")
    for n in THREADS[1:]:
        check(run([*words, "--threads", n]) == want, f"{words} with {n} threads")
check(b"line 70001 is not" in want[2], want[2].decode())

# ---- filters: the same bytes (but for what a file says of itself), counts and words
def built(n, *shape):
    tool("create", "f.blm", *shape, "--seed", "9", "--force", "--quiet")
    words = run(["add", "f.blm", "in", "more", "--threads", n])
    figures = run(["info", "--json", "f.blm"])[1]
    tool("create", "g.blm", *shape, "--seed", "9", "--force", "--from", "in", "--threads", n)
    return words, figures, run(["info", "--json", "g.blm"])[1]


for shape in ("--kind classic -n 50000 -p 1e-5", "--kind blocked -n 50000 -p 1e-5",
              "--kind counting -n 50000 -p 1e-5", "--kind scalable -n 1000 -p 1e-5",
              # large enough for keys to be gathered
              "--kind classic -m 150000000 -k 5", "--kind blocked -n 15e6 -p 0.01"):
    want = built("1", *shape.split())
    check(want[0][0] == 0, f"add: {want[0]}")
    for n in THREADS[1:]:
        check(built(n, *shape.split()) == want, f"add {shape} with {n} threads")

removed = []
for n in THREADS:
    tool("create", "c.blm", "-n", "50000", "-p", "1e-5", "--kind", "counting", "--seed", "9",
         "--force", "--quiet", "--from", "in")
    removed.append(run(["remove", "c.blm", "more", "--threads", n]))
check(removed.count(removed[0]) == len(THREADS), f"remove: {removed}")

# ---- --state, whose lines are written before they are seen
for n in THREADS:
    if os.path.exists("state.blm"):
        os.unlink("state.blm")
    first, second = (run([*DEDUP, "--state", "state.blm", "-n", "60000", "--threads", n, name])
                     for name in ("in", "more"))
    check(first[1] == b"\n".join(dict.fromkeys(lines)) + b"\n", f"state, {n} threads")
    check(second[1] == b"and more\n", f"state again, {n} threads: {len(second[1])}")

# ---- a file that is cut short under us ends early, and nothing worse
for n in THREADS:
    (work / "shrinks").write_bytes((work / "in").read_bytes() * 4)
    p = subprocess.Popen([BLOOMERY, "dedup", "shrinks", "--threads", n], stdout=subprocess.PIPE)
    p.stdout.read(100000)
    os.truncate("shrinks", 1000)
    p.stdout.read()
    check(p.wait(60) == 0, f"shrunk, {n} threads: {p.returncode}")

# ---- an answer comes before more input does, and the end of the reader is the end
for n in THREADS:
    p = subprocess.Popen([BLOOMERY, "dedup", "--threads", n], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    for i in range(20):
        p.stdin.write(b"line %d\n" % i)
        p.stdin.flush()
        check(p.stdout.readline() == b"line %d\n" % i, f"line {i}, {n} threads")
    p.stdout.close()
    p.stdin.write(b"one more\n")
    p.stdin.flush()
    check(p.wait(60) == 0, f"a closed pipe, {n} threads: {p.returncode}")
    p = subprocess.Popen([BLOOMERY, "check", "-q", "some.blm", "--threads", n],
                         stdin=subprocess.PIPE)
    p.stdin.write(b"no such line\n")
    p.stdin.flush()
    for line in lines[:50]:
        try:
            p.stdin.write(line.split(b",")[0] + b"\n")
            p.stdin.flush()
        except BrokenPipeError:
            break
    check(p.wait(60) == 0, f"-q ends with input still open, {n} threads: {p.returncode}")
