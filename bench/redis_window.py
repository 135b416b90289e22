#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which of these requests came before, in the last ten minutes? Four ways on one server, at 1%:

    bench/redis_window.py [-n ITEMS]

ITEMS (default 1e6) different items of 24 bytes are asked and remembered, as one would by each way, in batches
of 100. A figure is measured on the server: the growth of used_memory, and from INFO commandstats the number
of commands and the microseconds in them. Round trips are counted where this program waits for a reply.
REDIS_SERVER names another binary.
"""
import argparse
import os
import pathlib
import platform
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "redis"))
import server  # noqa: E402

BATCH = 100


def item(i):
    return b"request:%016d" % i


class Way:
    """Asks and remembers a batch; how many round trips that took is counted in `trips`."""

    def __init__(self, c, items):
        self.c, self.items, self.trips = c, items, 0

    def go(self, *commands):
        self.trips += 1
        replies = self.c.many(commands)
        assert not any(isinstance(r, server.Error) for r in replies), replies


class Window(Way):
    name, remembers = "BF.MADD, WINDOW 600", "600 to 686 s"

    def begin(self):
        self.go(("BF.RESERVE", "w", "0.01", self.items, "WINDOW", 600))

    def batch(self, items):
        self.go(("BF.MADD", "w", *items))


class Slack(Window):
    name, remembers = "BF.MADD, WINDOW 600 SLACK 12", "600 to 612 s"

    def begin(self):
        self.go(("BF.RESERVE", "w", "0.01", self.items, "WINDOW", 600, "SLACK", 12))


class Turns(Way):
    """The one now and the one before, each for the items of 600 s and at half the rate. Both are there most of
    the time. An item of the one before must be added again, or it is forgotten early."""
    name, remembers = "two filters by turns", "600 to 1200 s"

    def begin(self):
        for key in "now", "before":
            self.go(("BF.RESERVE", key, "0.005", self.items, "NONSCALING"))

    def batch(self, items):
        self.go(("BF.MEXISTS", "before", *items), ("BF.MADD", "now", *items))


class Keys(Way):
    name, remembers = "SET item 1 EX 600 NX", "600 s"

    def begin(self):
        pass

    def batch(self, items):
        self.go(*(("SET", i, 1, "EX", 600, "NX") for i in items))


def measure(way, items):
    with server.Server(("maxmemory", "0"), binary=os.environ.get("REDIS_SERVER")) as s:
        c = s.client()
        before = int(server.info(c, "memory")["used_memory"])
        w = way(c, items)
        w.begin()
        c("CONFIG", "RESETSTAT")
        w.trips = 0
        for first in range(0, items, BATCH):
            w.batch([item(i) for i in range(first, first + BATCH)])
        stats = [dict(f.split("=") for f in row.split(",")) for name, row in server.info(c, "commandstats").items()
                 if name.lower() in ("cmdstat_bf.madd", "cmdstat_bf.mexists", "cmdstat_set")]
        memory = int(server.info(c, "memory")["used_memory"]) - before
        batches = items / BATCH
        print(f"{way.name:30s} {memory / 1e6:8.1f} MB {8 * memory / items:8.1f} {sum(int(r['calls']) for r in stats) / batches:10.0f}"
              f" {w.trips / batches:12.0f} {sum(int(r['usec']) for r in stats) / batches:8.1f}   {way.remembers}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=lambda x: int(float(x)), default=1_000_000, metavar="ITEMS")
    a = parser.parse_args()
    cpu = [x.split(":")[1].strip() for x in open("/proc/cpuinfo", encoding="utf8") if x.startswith("model name")]
    print(f"{cpu[0] if cpu else platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.2f}; "
          f"{a.n} items in the window, 1%\n")
    print(f"{'':30s} {'memory':>11s} {'bits':>8s} {'commands':>10s} {'round trips':>12s} {'us':>8s}   remembers")
    print(f"{'':30s} {'':>11s} {'an item':>8s} {'for 100':>10s} {'for 100':>12s} {'for 100':>8s}")
    for way in Window, Slack, Turns, Keys:
        measure(way, a.n)


if __name__ == "__main__":
    main()
