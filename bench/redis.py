#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call costs the server, module beside module:

    bench/redis.py [-n ITEMS] [MODULE.so ...]

The first module is ours (build/redis/bloomery.so when none is given), the others stand beside it: a
RedisBloom, or the stand-in build/redis/plain.so (bench/redis_plain.c), which is taken when none is given.
Each runs in a redis-server of its own (REDIS_SERVER names another binary); they get the same bytes, in
slices by turns, so that what else the machine does falls on all of them.

A figure is microseconds a call inside the server (INFO commandstats): of the median slice, and of the one
that a tenth of the slices are below. A slice is about a millisecond, so that on a busy machine most are
undisturbed, and the lower figure is what to compare there; x is how many times ours the other's is.
"""
import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "redis"))
import server  # noqa: E402

PER_CALL = 100
SLICES, CALLS, SINGLES = 100, 50, 1000  # slices; calls in each, with many keys and with one


class Side:
    def __init__(self, module):
        self.name = pathlib.Path(module).name
        server.MODULE = module
        self.server = server.Server(("maxmemory", "0"), binary=os.environ.get("REDIS_SERVER"))
        self.c = self.server.client()
        self.file, self.sock = self.c.file, self.c.sock

    def send(self, data, lines):
        """Sends and reads so many lines of reply; nothing is kept."""
        self.sock.sendall(data)
        while lines > 0:
            got = self.sock.recv(1 << 20)
            if not got:
                raise ConnectionError("the server has gone")
            lines -= got.count(b"\n")

    def stats(self, command):
        row = server.info(self.c, "commandstats")["cmdstat_" + command]
        fields = dict(x.split("=") for x in row.split(","))
        return int(fields["usec"]) / int(fields["calls"])


def head(command, key, count):
    return b"*%d\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (count + 2, len(command), command, len(key), key)


def batch(command, key, first, count):
    """A call with `count` keys."""
    return head(command, key, count) + b"$16\r\nsession:%08d\r\n" * count % tuple(range(first, first + count))


def present(command, key, first, count):
    """Half of the keys were added, half never."""
    numbers = [x for i in range(first, first + count, 2) for x in (i, i)]
    return head(command, key, count) + b"$16\r\nsession:%08d\r\n$16\r\nnothing:%08d\r\n" * (count // 2) % tuple(numbers)


def fill(sides, key, items):
    step = 100
    for first in range(0, items, PER_CALL * step):
        data = b"".join(batch(b"BF.MADD", key, at, PER_CALL)
                        for at in range(first, min(first + PER_CALL * step, items), PER_CALL))
        calls = (min(first + PER_CALL * step, items) - first) // PER_CALL
        for s in sides:
            s.send(data, calls * (PER_CALL + 1))


def measure(sides, command, data_of, lines, calls=CALLS):
    """Slices by turns; (median, lower tenth) a side."""
    seen = [[] for _ in sides]
    for i in range(SLICES):
        data = data_of(i)
        for side, row in zip(sides, seen):
            side.c("CONFIG", "RESETSTAT")
            side.send(data, lines * calls)
            row.append(side.stats(command))
    return [(statistics.median(r), sorted(r)[len(r) // 10]) for r in seen]


def show(what, sides, figures):
    ours = figures[0]
    for side, row in zip(sides, figures):
        ratio = "" if side is sides[0] else "".join(f" {a / b:6.2f} x" for a, b in zip(row, ours))
        print(f"{what:28s} {side.name:14s} {row[0]:9.3f} {row[1]:9.3f}  {ratio}", flush=True)
        what = ""


def many(sides, key, items):
    spot = [items]

    def adds(_):
        first = spot[0]
        spot[0] += CALLS * PER_CALL
        return b"".join(batch(b"BF.MADD", key, first + i * PER_CALL, PER_CALL) for i in range(CALLS))

    def asks(i):
        first = (i * 7919 * PER_CALL) % (items - CALLS * PER_CALL)
        return b"".join(present(b"BF.MEXISTS", key, first + j * PER_CALL, PER_CALL) for j in range(CALLS))

    name = key.decode()
    show(f"MADD x {PER_CALL}, {name}", sides, measure(sides, "bf.madd", adds, PER_CALL + 1))
    show(f"MEXISTS x {PER_CALL}, {name}", sides, measure(sides, "bf.mexists", asks, PER_CALL + 1))


def single(sides, items):
    calls = SINGLES

    def of(command, key, first):
        def data(i):
            at = first + i * calls
            if command == b"SET":
                return b"".join(b"*3\r\n$3\r\nSET\r\n$16\r\nsession:%08d\r\n$1\r\nx\r\n" % n for n in range(at, at + calls))
            if command == b"GET":
                return b"".join(b"*2\r\n$3\r\nGET\r\n$16\r\nsession:%08d\r\n" % n for n in range(at, at + calls))
            front = head(command, key, 1)
            return b"".join(front + b"$16\r\nsession:%08d\r\n" % n for n in range(at, at + calls))
        return data

    # New keys are set and added, then got and asked: strings, a filter of just these keys, and the large
    # one, where each probe is a miss of the cache that a GET among so few keys has not. A GET's reply is two lines.
    for s in sides:
        s.c("BF.RESERVE", "same keys", "0.01", SLICES * SINGLES)
    ours = {}
    for command, key, lines in ((b"SET", b"", 1), (b"BF.ADD", b"same keys", 1), (b"BF.ADD", b"reserved", 1),
                                (b"GET", b"", 2), (b"BF.EXISTS", b"same keys", 1), (b"BF.EXISTS", b"reserved", 1)):
        figures = measure(sides, command.decode().lower(), of(command, key, items), lines, calls)
        show(command.decode() + (f", {key.decode()}" if key else ""), sides, figures)
        ours[command, key] = figures[0]
    for a, b in ((b"BF.ADD", b"SET"), (b"BF.EXISTS", b"GET")):
        for key in (b"same keys", b"reserved"):
            ratio = " / ".join(f"{x / y:.2f}" for x, y in zip(ours[a, key], ours[b, b""]))
            print(f"{sides[0].name}: {a.decode()}, {key.decode()}: {ratio} times {b.decode()}")


def space(sides, key):
    for s in sides:
        row = s.c("BF.INFO", key)
        facts = dict(zip(row[::2], row[1::2]))
        layers, items = facts["Number of filters"], facts["Number of items inserted"]
        bits = 8 * (facts["Size"] - 32 - 64 * layers) / items
        print(f"space, {key.decode():21s} {s.name:14s} {bits:6.2f} bits an item, {layers} layer{'s' * (layers > 1)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=lambda x: int(float(x)), default=10_000_000, metavar="ITEMS")
    parser.add_argument("modules", nargs="*")
    a = parser.parse_args()
    built = pathlib.Path(os.environ.get("BLM_BUILD", ROOT / "build")) / "redis"
    modules = a.modules or [str(built / "bloomery.so"), str(built / "plain.so")]
    modules = [str(pathlib.Path(m).resolve()) for m in modules]
    before = a.n - SLICES * CALLS * PER_CALL - SLICES * SINGLES  # keys that are there when it begins
    if before < a.n / 10:
        parser.error("-n: at least 1e6")
    version = subprocess.run([os.environ.get("REDIS_SERVER", "redis-server"), "--version"], capture_output=True,
                             text=True, check=True).stdout.split()
    cpu = [x.split(":")[1].strip() for x in open("/proc/cpuinfo", encoding="utf8") if x.startswith("model name")]
    print(f"{' '.join(version[:3])}; {cpu[0] if cpu else platform.machine()}, {os.cpu_count()} processors, "
          f"load {os.getloadavg()[0]:.2f}; {a.n} items at 1%")
    if "plain.so" in " ".join(modules):
        print("plain.so is a stand-in for RedisBloom: its algorithm written straight down (bench/redis_plain.c)")
    print(f"\n{'microseconds a call in the server':43s} {'median':>9s} {'tenth':>9s}   {'median':>8s} {'tenth':>8s}")
    sides = [Side(m) for m in modules]
    try:
        for key in (b"reserved", b"auto"):
            for s in sides:
                if key == b"reserved":
                    s.c("BF.RESERVE", key, "0.01", a.n)
            fill(sides, key, before)
            many(sides, key, before)
        single(sides, a.n - SLICES * SINGLES)
        print()
        for key in (b"reserved", b"auto"):
            space(sides, key)
    finally:
        for s in sides:
            s.server.__exit__(*sys.exc_info())


if __name__ == "__main__":
    main()
