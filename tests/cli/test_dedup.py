# SPDX-License-Identifier: MIT
"""dedup against the exact answer. genlines knows it by construction, and a Python set has the last
word on genlines itself. No duplicate is ever printed, no line changed or moved; lines wrongly
dropped are counted and must lie within the interval around the number that --stats expects.

The number is close to Poisson distributed (over 300 runs it scatters by 0.88 to 1.10 of that), and
dedup has no fixed seed: sixteen intervals, each of which holds it but for 5e-11, are all kept but for
one run in 1e9."""
import json
import math
import os
import subprocess

from tool import BLOOMERY, GENLINES, SLOW, check, scratch, tool

work = scratch("cli.dedup")
os.chdir(work)
COUNT = 5000000 if SLOW else 300000
SHARE, SEED = "0.2", "7"
ODDS = 5e-11


def generate(count, seed, *more):
    return subprocess.run([GENLINES, str(count), SHARE, str(seed), *more], capture_output=True,
                          check=False)


def poisson_interval(mean, odds):
    """The least and greatest counts that neither tail of odds / 2 holds. Each tail is summed from its
    far end, so that it is not lost beside 1."""
    first = max(0, int(mean - 12 * math.sqrt(mean) - 12))
    terms = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) if mean else float(k == 0)
             for k in range(first, int(mean + 12 * math.sqrt(mean) + 40))]

    def cut(tail):
        """How many of these terms the tail takes."""
        total = 0.0
        for i, term in enumerate(tail):
            total += term
            if total > odds / 2:
                return i
        return len(terms) - 1
    return first + cut(terms), first + len(terms) - 1 - cut(reversed(terms))


check(poisson_interval(1.0, 0.05) == (0, 3), "the interval of mean 1 at 95%")

# ---- the generator against a set
data = generate(20000, 3).stdout
lines = data.splitlines(True)
exact = b"".join(dict.fromkeys(lines))
check(len(lines) == 20000 and 0.15 < 1 - len(set(lines)) / 20000 < 0.25, "a fifth are repeats")
ok = subprocess.run([GENLINES, "20000", SHARE, "3", "--verify"], input=exact, capture_output=True,
                    check=False)
check((ok.returncode, ok.stdout) == (0, b"unique %d dropped 0\n" % len(set(lines))), ok)
for wrong in (lines[0] + exact, exact + lines[0], exact.replace(b"example", b"Example", 1),
              exact.replace(lines[5], b"", 1) + lines[5]):
    bad = subprocess.run([GENLINES, "20000", SHARE, "3", "--verify"], input=wrong,
                         capture_output=True, check=False)
    check(bad.returncode == 1, "a wrong output is seen")
check(tool("dedup", "-p", "1e-9", input=data)[0] == exact, "dedup is the set's answer")


def duplicates(all_lines):
    seen = set()
    for x in all_lines:
        if x in seen:
            yield x
        seen.add(x)


check(tool("dedup", "-D", "-p", "1e-9", input=data)[0] == b"".join(duplicates(lines)), "-D")

# ---- the rates
with open("lines", "wb") as f:
    subprocess.run([GENLINES, str(COUNT), SHARE, SEED], stdout=f, check=True)


def trial(words, label):
    with open("stats", "wb") as stats:
        dedup = subprocess.Popen([BLOOMERY, "dedup", "lines", "--json", *words],
                                 stdout=subprocess.PIPE, stderr=stats)
        done = subprocess.run([GENLINES, str(COUNT), SHARE, SEED, "--verify"], stdin=dedup.stdout,
                              capture_output=True, check=False)
        dedup.stdout.close()
        check(dedup.wait() == 0, f"{label}: exit {dedup.returncode}")
    check(done.returncode == 0, f"{label}: {done.stderr.decode()}")
    _, unique, _, dropped = done.stdout.split()
    unique, dropped = int(unique), int(dropped)
    d = json.load(open("stats"))
    check(d["lines"] == COUNT and d["unique"] == unique - dropped, f"{label}: counts")
    # One line more dropped is one less in the filter, and so lowers what is expected, by as much as
    # r / (1 - r): the two differ by up to 1 / (1 - r) of the scatter.
    mean = d["expected_wrongly_dropped"]
    low, high = (round(mean + (edge - mean) / (1 - d["rate_now"]))
                 for edge in poisson_interval(mean, ODDS))
    print(f"{label}: {dropped} of {unique} dropped, {mean:.4g} expected, "
          f"interval {low} to {high}")
    check(low <= dropped <= high, f"{label}: {dropped} is outside {low} to {high}")
    return dropped, unique


for p in ("1e-2", "1e-3", "1e-6"):
    dropped, unique = trial(["-p", p, "-n", str(int(COUNT * 0.8))], f"p {p}, sized")
    # The promise is for a full filter, so a run that fills it drops less than p of its lines.
    check(dropped <= poisson_interval(float(p) * unique, ODDS)[1], f"p {p} is kept")
    dropped, unique = trial(["-p", p], f"p {p}, growing")
    check(dropped <= poisson_interval(float(p) * unique, ODDS)[1], f"p {p} is kept, growing")
    if os.path.exists("state.blm"):
        os.remove("state.blm")
    trial(["-p", p, "-n", str(int(COUNT * 0.8)), "--state", "state.blm"], f"p {p}, state")

# ---- an overfilled filter: many are dropped, and the figure still tells how many
trial(["-p", "1e-2", "-n", str(int(COUNT * 0.3)), "--quiet"], "overfilled")

# ---- a state that is filled in few batches: each is checked before any of it is added
with open("few", "wb") as f:
    f.write(b"".join(b"%d\n" % (i % 65000) for i in range(70000)))
expected, dropped = 0, 0
for seed in range(1, 25):
    tool("create", "few.blm", "-n", "65000", "-p", "0.05", "--seed", seed, "--force", "--quiet")
    said = json.loads(tool("dedup", "few", "--state", "few.blm", "--json")[1])
    expected += said["expected_wrongly_dropped"]
    dropped += said["duplicates"] - 5000
low, high = poisson_interval(expected, ODDS)
print(f"few batches: {dropped} dropped, {expected:.0f} expected, interval {low} to {high}")
check(low <= dropped <= high, f"few batches: {dropped} is outside {low} to {high}")

# ---- windows, whose rate rises and falls: the figure is of all lines, not of the last moment
for label, many, words in (
        ("quiet at the end", [b"%d" % i for i in range(100000)] + [b"x"] * 40000, ["--window", "20000", "-p", "0.01"]),
        ("a burst", [b"%d" % (i // 2) for i in range(100000)], ["--window", "10m", "-n", "100000", "-p", "0.01"])):
    said = json.loads(tool("dedup", "--json", "--quiet", *words, input=b"\n".join(many) + b"\n")[1])
    dropped, expected = len(set(many)) - said["unique"], said["expected_wrongly_dropped"]
    print(f"window, {label}: {dropped} dropped, {expected:.0f} expected")
    check(0.75 * dropped < expected < 1.33 * dropped and not said["expected_at_least"], f"{label}: {dropped}, not {expected}")
