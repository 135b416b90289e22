# SPDX-License-Identifier: MIT
"""Lines around the size of a block, and of 100 MiB, from a file and from a pipe; memory stays near
the longest line."""
import hashlib
import os
import subprocess

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.long_lines")
os.chdir(work)
MiB = 1 << 20


def dedup(data, *words):
    (work / "in").write_bytes(data)
    by_file = tool("dedup", *words, "in")[0]
    by_pipe = tool("dedup", *words, input=data)[0]
    check(by_file == by_pipe, "a file and a pipe give the same")
    return by_file


# ---- every length around the block and the room behind it, with a short line before and after
for size in [MiB - 2, MiB - 1, MiB, MiB + 1, MiB * 5 // 4 - 1, MiB * 5 // 4, MiB * 5 // 4 + 1,
             2 * MiB, 3 * MiB + 7]:
    long = b"x" * size
    other = b"x" * (size - 1) + b"y"
    want = b"a\n" + long + b"\n" + other + b"\nb\n"
    check(dedup(b"a\n" + long + b"\n" + other + b"\n" + long + b"\na\nb\n" + other) == want,
          f"lines of {size} bytes")
    check(dedup(long) == long + b"\n", f"one line of {size} bytes, no newline")

# ---- NUL bytes all over, and NUL-ended
zeros = bytes(3 * MiB)
check(dedup(zeros + b"\n" + zeros + b"\n" + zeros + b"\0\n") == zeros + b"\n" + zeros + b"\0\n",
      "lines of zeros")
check(dedup(b"\n" * 5000 + b"\0" + b"\n" * 5000 + b"\0", "-0") == b"\n" * 5000 + b"\0", "-0")

# ---- decoding grows with the block
digits = b"61" * (3 * MiB)
check(dedup(digits + b"\n" + digits.upper() + b"\n6162\n", "-e", "hex") == digits + b"\n6162\n",
      "hex")
short = b"".join(b"%d\n" % (i % 10) for i in range(900000))
check(dedup(short, "-e", "int64") == b"".join(b"%d\n" % i for i in range(10)), "short integers")

# ---- many blocks of short lines with long ones between, against a set
import random  # noqa: E402
r = random.Random(5)
lines = []
for _ in range(30000):
    n = r.choice([0, 1, 3, 60, 60, 60, 500]) if r.random() < 0.999 else r.randrange(2 * MiB)
    lines.append(b"%d" % r.randrange(3000) + b"z" * n)
data = b"\n".join(lines) + b"\n"
want = b"".join(line + b"\n" for line in dict.fromkeys(lines))
check(hashlib.sha256(dedup(data, "-p", "1e-9")).digest() == hashlib.sha256(want).digest(), "mixed")

# ---- 100 MiB: three such lines, two of them equal
huge = os.urandom(100 * MiB).replace(b"\n", b" ")
with open("huge", "wb") as f:
    f.write(huge + b"\nsmall\n" + huge + b"\n" + huge[:-1] + b"!\nsmall\n")
done = subprocess.run(["sh", "-c", "ulimit -v 1000000; exec \"$0\" dedup huge", BLOOMERY]
                      if "asan" not in BLOOMERY else [BLOOMERY, "dedup", "huge"],
                      capture_output=True, check=False)
check(done.returncode == 0, done.stderr)
check(hashlib.sha256(done.stdout).digest() ==
      hashlib.sha256(huge + b"\nsmall\n" + huge[:-1] + b"!\n").digest(), "100 MiB lines")
tool("create", "f.blm", "-n", "10", "-p", "1e-6", "--quiet")
check(tool("add", "f.blm", "huge")[1] == b"bloomery add: f.blm: 5 keys added, 3 new\n", "add")
check(tool("check", "-c", "f.blm", "huge")[0] == b"5\n", "check")
os.remove("huge")
