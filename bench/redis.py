#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call costs the server, compared between modules:

    bench/redis.py [-n ITEMS] [--calls CALLS] [--only PART,...] [MODULE.so ...]

The first module is ours (default: build/redis/bloomery.so). The others are compared with it: RedisBloom, or
the stand-in build/redis/plain.so (bench/redis_plain.c), which is the default. Each runs in its own
redis-server (REDIS_SERVER names another binary). They get the same bytes, in slices by turns, so that other
work on the machine affects all of them. If there are two processors or more, the servers use the last one
and this program the first.

A figure is microseconds per call inside the server (INFO commandstats): of the median slice, of the slice at
the lowest tenth, and of the best. A slice takes about a millisecond, so that on a busy machine some are
undisturbed. Compare the lower figures there: a neighbour on the same core slows a module that computes more
than one that waits for memory. x is the other's figure divided by ours: first the median of the ratios slice
by slice, because two consecutive slices are disturbed alike; then the ratios of the lower figures. A short
slice begins with the other server's filter in the cache. With --calls 400 or 2500 instead of 50 there are
fewer and longer slices (25 and 8), as for a server that has the cache to itself.

--only names what is measured, of small, reserved, auto and single (which needs reserved); without it, all is.
The filters are filled first, and then "filled" is printed to stderr: what is measured after it takes seconds.
With --when COMMAND it begins when that command, run by the shell, has ended: one that waits for a quiet
machine.

SMISMEMBER on a key that does not exist is Redis alone: a command with 100 words, one key looked up, 100
integers replied. A filter of 10^4 keys stays in the first caches: what it takes beyond Redis alone is
arithmetic, and what a filter of ITEMS takes beyond that is memory.
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
SMALL = 10_000
PARTS = ("small", "reserved", "auto", "single")
PROCESSORS = sorted(os.sched_getaffinity(0))


def pin(which):
    """Pins us, and what we start next, to the first (0) or the last (-1) processor that we may use."""
    os.sched_setaffinity(0, [PROCESSORS[which]])


class Side:
    def __init__(self, module):
        self.name = pathlib.Path(module).name
        server.MODULE = module
        self.server = server.Server(("maxmemory", "0"), binary=os.environ.get("REDIS_SERVER"))
        self.c = self.server.client()
        self.file, self.sock = self.c.file, self.c.sock

    def send(self, data, lines):
        """Sends data and reads this many lines of reply; keeps nothing."""
        self.sock.sendall(data)
        while lines > 0:
            got = self.sock.recv(1 << 20)
            if not got:
                raise ConnectionError("the server has gone")
            lines -= got.count(b"\n")

    def stats(self, command):
        rows = server.info(self.c, "commandstats")
        row = rows.get("cmdstat_" + command) or rows["cmdstat_" + command.upper()]  # with the case in which it was registered
        fields = dict(x.split("=") for x in row.split(","))
        return int(fields["usec"]) / int(fields["calls"])


def head(command, key, count):
    return b"*%d\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (count + 2, len(command), command, len(key), key)


def batch(command, key, first, count):
    """A call with `count` keys."""
    return head(command, key, count) + b"$16\r\nsession:%08d\r\n" * count % tuple(range(first, first + count))


def present(command, key, first, count):
    """A call with `count` keys: half of them were added, half never."""
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


def measure(sides, command, data_of, lines, calls=None):
    """Slices by turns. Per side: (median, lower tenth, best, median of the ratios to the first side)."""
    seen = [[] for _ in sides]
    for i in range(SLICES):
        data = data_of(i)
        for side, row in zip(sides, seen):
            side.c("CONFIG", "RESETSTAT")
            side.send(data, lines * (calls or CALLS))
            row.append(side.stats(command))
    return [(statistics.median(r), sorted(r)[len(r) // 10], min(r),
             statistics.median(a / b for a, b in zip(r, seen[0]))) for r in seen]


def show(what, sides, figures):
    ours = figures[0]
    for side, row in zip(sides, figures):
        ratio = "" if side is sides[0] else f" {row[3]:6.2f} x {row[1] / ours[1]:6.2f} x {row[2] / ours[2]:6.2f} x"
        print(f"{what:28s} {side.name:14s} {row[0]:9.3f} {row[1]:9.3f} {row[2]:9.3f}  {ratio}", flush=True)
        what = ""


def floor(sides):
    def asks(_):
        return batch(b"SMISMEMBER", b"nothing", 0, PER_CALL) * CALLS

    show(f"SMISMEMBER x {PER_CALL}, no key", sides, measure(sides, "smismember", asks, PER_CALL + 1))


def many(sides, key, items, adding=True):
    spot = [items]

    def adds(_):
        first = spot[0]
        spot[0] += CALLS * PER_CALL
        return b"".join(batch(b"BF.MADD", key, first + i * PER_CALL, PER_CALL) for i in range(CALLS))

    def asks(i):
        first = (i * 7919 * PER_CALL) % (items - CALLS * PER_CALL)
        return b"".join(present(b"BF.MEXISTS", key, first + j * PER_CALL, PER_CALL) for j in range(CALLS))

    name = key.decode()
    if adding:
        show(f"MADD x {PER_CALL}, {name}", sides, measure(sides, "bf.madd", adds, PER_CALL + 1))
    show(f"MEXISTS x {PER_CALL}, {name}", sides, measure(sides, "bf.mexists", asks, PER_CALL + 1))


def single(sides, items):
    """One key per call. New keys are set and added; existing keys are got and checked, from all over and not in
    the order they were added. First strings among only the keys set here, and a filter of just these; then
    strings among as many keys as the large filter holds, and that filter."""
    calls, few = SINGLES, SLICES * SINGLES

    def key_of(command, number, large):
        if command in (b"SET", b"BF.ADD"):
            return b"session:%08d" % (items + number if large else number)
        number = number * 15485863 % (items - SLICES * CALLS * PER_CALL if large else few)
        if large and command == b"GET":
            return b"session:%d" % number  # POPULATE's names
        return b"session:%08d" % number

    def of(command, key, large):
        front = {b"SET": b"*3\r\n$3\r\nSET\r\n", b"GET": b"*2\r\n$3\r\nGET\r\n"}.get(command) or head(command, key, 1)
        tail = b"$1\r\nx\r\n" if command == b"SET" else b""

        def data(i):
            words = [key_of(command, n, large) for n in range(i * calls, (i + 1) * calls)]
            return b"".join(b"%s$%d\r\n%s\r\n%s" % (front, len(w), w, tail) for w in words)
        return data

    ours = {}
    for large, strings, key in ((False, f"{few} keys", b"same keys"), (True, f"{items} keys", b"reserved")):
        for s in sides:
            if large:
                s.c("DEBUG", "POPULATE", items, "session", 1)
            else:
                s.c("BF.RESERVE", key, "0.01", few)
        # A GET's reply is two lines.
        for command, filter_key, lines in ((b"SET", b"", 1), (b"BF.ADD", key, 1), (b"GET", b"", 2), (b"BF.EXISTS", key, 1)):
            figures = measure(sides, command.decode().lower(), of(command, filter_key, large), lines, calls)
            show(f"{command.decode()}, {filter_key.decode() or strings}", sides, figures)
            ours[command, large] = figures[0]
    for filter_large, string_large, what in ((False, False, "same keys"), (True, True, "reserved"),
                                             (True, False, f"reserved, among {few} strings")):
        for a, b in ((b"BF.ADD", b"SET"), (b"BF.EXISTS", b"GET")):
            ratio = " / ".join(f"{x / y:.2f}" for x, y in zip(ours[a, filter_large][:3], ours[b, string_large]))
            print(f"{sides[0].name}: {a.decode()}, {what}: {ratio} times {b.decode()}")


def space(sides, key):
    for s in sides:
        row = s.c("BF.INFO", key)
        facts = dict(zip(row[::2], row[1::2]))
        layers, items = facts["Number of filters"], facts["Number of items inserted"]
        bits = 8 * (facts["Size"] - 32 - 64 * layers) / items
        print(f"space, {key.decode():21s} {s.name:14s} {bits:6.2f} bits an item, {layers} layer{'s' * (layers > 1)}")


def main():
    global SLICES, CALLS, SINGLES
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=lambda x: int(float(x)), default=10_000_000, metavar="ITEMS")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--calls", type=int, default=CALLS, metavar="CALLS")
    parser.add_argument("--only", type=lambda x: x.split(","), default=list(PARTS), metavar="PART,...")
    parser.add_argument("--when", metavar="COMMAND")
    a = parser.parse_args()
    if set(a.only) - set(PARTS) or ("single" in a.only and "reserved" not in a.only):
        parser.error(f"--only: of {', '.join(PARTS)}; single needs reserved")
    if a.calls != CALLS:
        SLICES, CALLS, SINGLES = max(8, min(100, 10_000 // a.calls)), a.calls, min(10_000, 10 * a.calls)
    built = pathlib.Path(os.environ.get("BLM_BUILD", ROOT / "build")) / "redis"
    modules = a.modules or [str(built / "bloomery.so"), str(built / "plain.so")]
    modules = [str(pathlib.Path(m).resolve()) for m in modules]
    before = a.n - SLICES * CALLS * PER_CALL - SLICES * SINGLES  # keys in the filter at the start
    if before < a.n / 10:
        parser.error("-n: at least 1e6")
    version = subprocess.run([os.environ.get("REDIS_SERVER", "redis-server"), "--version"], capture_output=True,
                             text=True, check=True).stdout.split()
    cpu = [x.split(":")[1].strip() for x in open("/proc/cpuinfo", encoding="utf8") if x.startswith("model name")]
    print(f"{' '.join(version[:3])}; {cpu[0] if cpu else platform.machine()}, {os.cpu_count()} processors, "
          f"load {os.getloadavg()[0]:.2f}; {a.n} items at 1%")
    if "plain.so" in " ".join(modules):
        print("plain.so is a stand-in for RedisBloom: its algorithm in plain code (bench/redis_plain.c)")
    print(f"\n{'microseconds per call in the server':43s} {'median':>9s} {'tenth':>9s} {'best':>9s}   {'median':>8s} {'tenth':>8s} {'best':>8s}")
    pin(-1)
    sides = [Side(m) for m in modules]
    pin(0)
    try:
        large = [x.encode() for x in ("reserved", "auto") if x in a.only]
        for s in sides:
            s.c("BF.RESERVE", "small", "0.01", SMALL)
            if "reserved" in a.only:
                s.c("BF.RESERVE", "reserved", "0.01", a.n)
        fill(sides, b"small", SMALL)
        for key in large:
            fill(sides, key, before)
        print("filled", file=sys.stderr, flush=True)
        if a.when:
            subprocess.run(a.when, shell=True, check=True)
        floor(sides)
        if "small" in a.only:
            many(sides, b"small", SMALL, adding=False)
        for key in large:
            many(sides, key, before)
        if "single" in a.only:
            single(sides, a.n - SLICES * SINGLES)
        print()
        for key in large:
            space(sides, key)
    finally:
        for s in sides:
            s.server.__exit__(*sys.exc_info())


if __name__ == "__main__":
    main()
