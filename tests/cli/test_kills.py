# SPDX-License-Identifier: MIT
"""Commands that are killed (SIGKILL) at any moment. What they replace is the old file or the new one, whole;
what they add to opens again and has what an earlier command had added; a state has no line that was not printed.

BLM_KILLS says how many processes die (12; `make kill` has more of them die)."""
import os
import random
import signal
import struct
import subprocess
import time

from tool import BLOOMERY, check, count, scratch, tool
from native_decoder import xxh64

KILLS = max(12, int(os.environ.get("BLM_KILLS", "0")) // 6)
N = 30_000
os.chdir(scratch("cli.kills"))
random.seed(26)
dead = 0


def lines(name, first, last):
    with open(name, "w") as f:
        f.writelines(f"http://example.org/{i}\n" for i in range(first, last))


def run(*words, out=subprocess.DEVNULL, within=None):
    """Runs the command; with `within`, kills it at some moment of that many seconds. Was it killed?"""
    global dead
    p = subprocess.Popen([BLOOMERY, *map(str, words)], stdout=out, stderr=subprocess.DEVNULL)
    try:
        p.wait(None if within is None else random.uniform(0, within))
    except subprocess.TimeoutExpired:
        p.send_signal(signal.SIGKILL)
    code = p.wait()
    dead += code == -signal.SIGKILL
    check(code in (0, -signal.SIGKILL), f"exit {code}: {words}")
    return code != 0


def took(*words):
    began = time.monotonic()
    check(not run(*words), words)
    return time.monotonic() - began


def data(name):
    with open(name, "rb") as f:
        return f.read()


lines("old", 0, N // 2)
lines("new", 0, N)
lines("more", N, 2 * N)
same = ["-n", 2 * N, "-p", "1e-3", "--seed", "5", "--quiet"]

# ---- replaced: the old file or the new one
tool("create", "a.blm", *same, "--from", "old")
tool("create", "b.blm", *same, "--from", "more")
for words in (["create", "out.blm", *same, "--from", "new"],
              ["merge", "out.blm", "a.blm", "b.blm"],
              ["build", "out.blm", "--include", "new", "-p", "0.004", "--kind", "static", "--seed", "5"],
              ["convert", "a.blm", "out.blm", "--to", "native"]):
    tool("create", "out.blm", *same, "--from", "old", "--force")
    old = data("out.blm")
    seconds = took(*words, "--force")
    new = data("out.blm")
    for _ in range(KILLS // 8 + 1):
        tool("create", "out.blm", *same, "--from", "old", "--force")
        run(*words, "--force", within=seconds)
        check(data("out.blm") in (old, new), f"neither the old file nor the new one: {words}")
        tool("verify", "out.blm")
    left = [name for name in os.listdir() if name.startswith("out.blm") and name != "out.blm"]
    check(not left, f"left behind: {left}")

# ---- added to: what an earlier command added is there
tool("create", "f.blm", *same)
seconds = took("add", "f.blm", "old")
for _ in range(KILLS // 4 + 1):
    run("add", "f.blm", "more", within=seconds)
    tool("verify", "f.blm")
    check(count("f.blm", "old") == N // 2, "keys are gone")

# A batch of which the writer was killed is not counted, and what is more than that was called pollution. So
# let there be a file with a hundred of its keys counted, and with the flag that a writer did not close it.
tool("create", "counted.blm", *same, "--from", "new")
whole = bytearray(data("counted.blm"))
for flags, code, words in (0, 1, "POLLUTED"), (8, 0, "not judged by its count"):
    block, size = struct.unpack_from("<2I", whole, 48)
    for at in block, block + size:
        struct.pack_into("<I", whole, at + 32, flags)
        struct.pack_into("<Q", whole, at + 136, 100)
        struct.pack_into("<Q", whole, at + size - 8, xxh64(bytes(whole[at:at + size - 8])))
    with open("counted.blm", "wb") as f:
        f.write(whole)
    check(words in tool("verify", "counted.blm", code=code)[0].decode(), f"flags {flags}: {words}")

# ---- a state: a line counts as seen only after it was printed. So one may be printed twice, and none is lost.
# Of 60 000 lines at one in a million three are not mistaken for others in millions of runs.
MISTAKEN = 3
everything = [f"http://example.org/{i}" for i in range(2 * N)]
seconds = took("dedup", "new", "--state", "first.state")
seen = set()


def dedup(within=None):
    with open("printed", "w") as out:
        run("dedup", "new", "more", "--state", "state.blm", out=out, within=within)
    with open("printed") as f:
        seen.update(f.read().split("\n")[:-1])


for i in range(KILLS // 4 + 1):
    if i % 4 == 0 and os.path.exists("state.blm"):
        os.unlink("state.blm")  # it grows again, which is when most can go wrong
        seen.clear()
    dedup(within=2 * seconds)
    if os.path.exists("state.blm"):
        tool("verify", "state.blm")
        with open("unprinted", "w") as f:
            f.writelines(line + "\n" for line in everything if line not in seen)
        lost = count("state.blm", "unprinted")
        check(lost <= MISTAKEN, f"{lost} lines are in the state and were not printed")
dedup()
check(len(everything) - len(seen) <= MISTAKEN, f"{len(everything) - len(seen)} lines were never printed")

print(f"{dead} processes were killed")
check(dead > 0, "none was killed")
