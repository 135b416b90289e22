#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes with ours and reads with theirs, and the other way round, on random parameters and keys.

    tests/interop/interop.py [--seed N] [--rounds N] [--only guava,go,dcso]

Theirs are the originals as Debian packages them: Guava, Go's bloom, DCSO's command (tools/setup
interop installs them). For each round both sides make a filter from the same keys, and the files
must be equal, byte for byte; each side asks the other's file, and the answers must be equal; both
unite two filters, and the files must be equal again. `make test-interop` runs this.
"""
import argparse
import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, SOURCE, check, run, scratch, write  # noqa: E402

HERE = SOURCE / "tests" / "interop"
GUAVA = Path("/usr/share/java/guava.jar")
GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "-buildvcs=false"}


# ---- the sides ----

def peer(command, script):
    """Runs one side over a script of commands (lists of fields)."""
    text = "".join("\t".join(str(f) for f in line) + "\n" for line in script)
    done = subprocess.run([str(c) for c in command], input=text, text=True, capture_output=True,
                          check=False)
    check(done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}")


def ours(script):
    peer([BUILD / "interop.peer"], script)


def java_side(place):
    run("javac", "-cp", GUAVA, "-d", place, HERE / "Peer.java")
    return ["java", "-XX:+UseSerialGC", "-cp", f"{GUAVA}:{place}", "com.google.common.hash.Peer"]


def go_side(place):
    env = dict(os.environ, GOCACHE=str(place / "cache"), **GO)
    run("go", "build", "-o", place / "peer", HERE / "peer.go", env=env, cwd=place)
    return [place / "peer"]


# ---- keys ----

def text_key(rng):
    planes = [(0x20, 0x7e), (0xa0, 0x24f), (0x4e00, 0x9fff), (0x1f300, 0x1faff)]
    low, high = rng.choice(planes)
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(0, 24))).encode()


def key(rng, funnel):
    if funnel == "int":
        return rng.choice([0, 1, 2**32 - 1, 2**31, rng.getrandbits(32)]).to_bytes(4, "little")
    if funnel == "long":
        return rng.choice([0, 1, 2**64 - 1, 2**63, rng.getrandbits(64)]).to_bytes(8, "little")
    if funnel == "string" or (funnel == "chars" and rng.random() < 0.7):
        return text_key(rng)
    return rng.randbytes(rng.choice([0, 1, 3, 7, 8, 15, 16, 17, 31, 32, 33, rng.randint(0, 300)]))


def keys_file(path, keys):
    return write(path, "".join(k.hex() + "\n" for k in keys))


def size(rng):
    return int(10 ** rng.uniform(0, 3.5)), 10 ** rng.uniform(-6, -0.7)


# ---- a round between two script sides ----

class Rounds:
    """Collects commands for both sides, runs them, and compares what they wrote."""

    def __init__(self, place, theirs):
        self.place, self.theirs = place, theirs
        self.count = 0
        self.sides = {"ours": [], "theirs": []}
        self.equal = []                      # (what, file of ours, file of theirs)

    def path(self, side, what):
        return self.place / f"{self.count}.{what}.{side}"

    def both(self, what, make_command):
        """make_command(side, out) for each side; what they write must be equal."""
        outs = {}
        for side, script in self.sides.items():
            outs[side] = self.path(side, what)
            script.append(make_command(side, outs[side]))
        self.equal.append((script[-1], outs["ours"], outs["theirs"]))
        return outs

    def filters(self, rng, fmt, scheme, funnel, parameters):
        """One filter made by both; each asks the other's."""
        self.count += 1
        n = min(int(parameters[1]) if parameters[0] == "make" else 200, 3000)
        members = [key(rng, funnel) for _ in range(rng.randint(0, n))]
        probes = members[:100] + [key(rng, funnel) for _ in range(400)]
        keys = keys_file(self.path("keys", "in"), members)
        asked = keys_file(self.path("keys", "ask"), probes)
        verb, *numbers = parameters
        made = self.both("filter", lambda side, out: [verb, fmt, scheme, funnel, *numbers, keys, out])
        other = {"ours": made["theirs"], "theirs": made["ours"]}
        self.both("answers", lambda side, out: ["answer", fmt, funnel, other[side], asked, out])
        return made, members

    def finish(self):
        # Files first: each side asks and unites what the other made.
        for verbs in (("make", "new", "rate"), ("merge",), ("answer",)):
            ours([c for c in self.sides["ours"] if c[0] in verbs])
            peer(self.theirs, [c for c in self.sides["theirs"] if c[0] in verbs])
        for command, mine, yours in self.equal:
            check(mine.read_bytes() == yours.read_bytes(), f"{command}: {mine} and {yours} differ")
        return len(self.equal)


def guava(rng, rounds, place):
    r = Rounds(place, java_side(place))
    for _ in range(rounds):
        scheme = rng.choice(["guava32", "guava64"])
        funnel = rng.choice(["bytes", "string", "chars", "int", "long"])
        n, p = rng.choice([(0, 0.03), (1, 0.01), size(rng), size(rng), size(rng)])
        sized = ("make", n, repr(p))
        a, _ = r.filters(rng, "guava", scheme, funnel, sized)
        b, _ = r.filters(rng, "guava", scheme, funnel, sized)
        r.both("union", lambda side, out: ["merge", "guava", a["ours"], b["theirs"], out])
    return r.finish()


def go(rng, rounds, place):
    r = Rounds(place, go_side(place))
    for _ in range(rounds):
        fmt = rng.choice(["go", "go-gob", "go-json"])
        n, p = size(rng)
        sized = rng.choice([("make", n, repr(p)), ("make", n, repr(p)),
                            ("new", rng.choice([0, 1, 63, 64, 65, rng.randint(1, 9999)]),
                             rng.randint(0, 40))])
        a, _ = r.filters(rng, fmt, "go", "-", sized)
        b, _ = r.filters(rng, fmt, "go", "-", sized)
        r.both("union", lambda side, out: ["merge", fmt, a["ours"], b["theirs"], out])
        if rng.random() < 0.2:
            numbers = [rng.randint(0, 20000), rng.randint(0, 9), rng.randint(0, 1000)]
            r.both("rate", lambda side, out: ["rate", *numbers, out])
    return r.finish()


# ---- DCSO's command reads lines ----

def dcso_key(rng):
    """A line: no newline, and no CR at its end, which the command takes off."""
    line = rng.choice([text_key(rng), rng.randbytes(rng.randint(0, 80))])
    return line.replace(b"\n", b"").rstrip(b"\r")


def bloom(*arguments, keys=None):
    text = b"" if keys is None else b"".join(k + b"\n" for k in keys)
    done = subprocess.run(["bloom", *map(str, arguments)], input=text, capture_output=True,
                          check=False)
    check(done.returncode == 0, f"bloom {arguments}: {done.stderr}")
    return done.stdout


def dcso_round(rng, place, number):
    n, p = size(rng)
    n, zipped = max(n, 2), rng.random() < 0.3
    flags, fmt = (["--gzip"], "dcso-gz") if zipped else ([], "dcso")
    theirs, mine = place / f"{number}.theirs", place / f"{number}.ours"
    members = [dcso_key(rng) for _ in range(rng.randint(1, min(n, 1000)))]
    probes = members[:100] + [dcso_key(rng) for _ in range(400)]
    bloom(*flags, "create", "-p", repr(p), "-n", n, theirs)
    bloom(*flags, "insert", theirs, keys=members)
    data = rng.randbytes(rng.randint(1, 100)).replace(b"\n", b"") if rng.random() < 0.5 else b""
    keys = keys_file(place / f"{number}.in", members)
    asked = keys_file(place / f"{number}.ask", probes)
    answers = place / f"{number}.answers"
    ours([["make", fmt, "dcso", "-", n, repr(p), keys, mine]])
    read = gzip.open if zipped else open
    with read(theirs, "rb") as a, read(mine, "rb") as b:
        check(a.read() == b.read(), f"{theirs} and {mine} differ: -n {n} -p {p!r}")
    if data and not zipped:                  # attached data is theirs to carry, and ours
        with open(theirs, "ab") as f:
            f.write(data)
    # Ours asked by theirs prints the keys that may be there; theirs asked by ours says 0 or 1.
    ours([["answer", fmt, "-", theirs, asked, answers]])
    maybe = [k for k, a in zip(probes, answers.read_text().split()) if a == "1"]
    printed = bloom(*flags, "check", mine, keys=probes).split(b"\n")[:-1]
    check(printed == maybe, f"{mine}: {len(printed)} keys by theirs, {len(maybe)} by ours")
    return theirs, mine, flags, fmt, (n, p)


def dcso(rng, rounds, place):
    for number in range(rounds):
        theirs, mine, flags, fmt, (n, p) = dcso_round(rng, place, number)
        more = place / f"{number}.more"
        keys = [dcso_key(rng) for _ in range(50)]
        bloom(*flags, "create", "-p", repr(p), "-n", n, more)
        bloom(*flags, "insert", more, keys=keys)
        joined = place / f"{number}.joined"
        joined.write_bytes(theirs.read_bytes())
        ours([["merge", fmt, theirs, more, place / f"{number}.united"]])
        bloom(*flags, "join", joined, more)
        read = gzip.open if flags else open
        with read(joined, "rb") as a, read(place / f"{number}.united", "rb") as b:
            check(a.read() == b.read(), f"{joined} is not what ours united")
    return rounds * 3


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--only", default="guava,go,dcso")
    options = options.parse_args()
    for name in options.only.split(","):
        print(f"{name}: --seed {options.seed} --rounds {options.rounds}", flush=True)
        rng = random.Random(f"{options.seed} {name}")
        done = {"guava": guava, "go": go, "dcso": dcso}[name](rng, options.rounds,
                                                             scratch(f"interop-{name}"))
        print(f"{name}: {done} comparisons, all equal", flush=True)


if __name__ == "__main__":
    main()
