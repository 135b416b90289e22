# SPDX-License-Identifier: MIT
"""Commands that are killed (SIGKILL) at any moment. What they replace is the old file or the new one, whole;
what they add to opens again and has every line that was printed, or that an earlier command had added.

BLM_KILLS says how many processes die (12; `make kill` has more of them die)."""
import os
import random
import signal
import subprocess
import time

from tool import BLOOMERY, check, count, scratch, tool

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

# ---- a state: what was printed is in it, and is not printed again
seconds = took("dedup", "new", "--state", "first.state")
seen = set()
for _ in range(KILLS // 4 + 1):
    with open("printed", "w") as out:
        run("dedup", "new", "more", "--state", "state.blm", out=out, within=2 * seconds)
    with open("printed") as f:
        printed = [line for line in f.read().split("\n")[:-1]]
    again = seen.intersection(printed)
    check(not again, f"{len(again)} lines were printed twice: {sorted(again)[:3]}")
    seen.update(printed)
    if os.path.exists("state.blm"):
        tool("verify", "state.blm")
    if seen:
        with open("printed", "w") as f:
            f.writelines(line + "\n" for line in seen)
        check(count("state.blm", "printed") == len(seen), "printed lines are not in the state")

print(f"{dead} processes were killed")
check(dead > 0, "none was killed")
