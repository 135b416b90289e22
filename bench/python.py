#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package beside a set, a loop, the C call and Debian's python3-flor, on the same keys in one run.

    make bench-python            or: PYTHONPATH=build/python/site BLM_BUILD=build python3 bench/python.py [PART …]

Each figure is the best of several rounds, in which all take turns. Read the ratios; the times are this
machine's. Owed: batches of str at least 3 times as fast as a loop over `in`; an array of integers at most
1.5 times the C call; `in` at most 1.3 times a set's; 5 times as fast as flor everywhere.
"""
import ctypes
import os
import sys
import time
from pathlib import Path

import bloomery

BUILD = Path(os.environ.get("BLM_BUILD", Path(__file__).resolve().parents[1] / "build"))
ROUNDS = int(os.environ.get("BLM_ROUNDS", 7))
MANY = int(float(os.environ.get("BLM_KEYS", 1e6)))


def best(calls, rounds=ROUNDS):
    """Seconds of the best round of each call; they take turns."""
    times = [float("inf")] * len(calls)
    for r in range(rounds):
        for i in range(len(calls)):
            j = (i + r) % len(calls)
            start = time.perf_counter()
            calls[j]()
            times[j] = min(times[j], time.perf_counter() - start)
    return times


def row(what, ours, theirs, n, owed, faster):
    ratio = theirs / ours if faster else ours / theirs
    met = ratio >= owed if faster else ratio <= owed
    print(f"{what:58} {ours / n * 1e9:8.1f} {theirs / n * 1e9:8.1f}   {ratio:6.2f}   owed {'>=' if faster else '<='} {owed}: {'met' if met else 'NOT MET'}")


def loop(container, keys):
    for k in keys:
        k in container


def singles():
    for what, keys in (("str", [f"https://example.org/page/{i}" for i in range(1000)]), ("short str", [f"key{i}" for i in range(1000)]),
                       ("bytes", [b"key%d" % i for i in range(1000)]), ("int", list(range(1000)))):
        f, s = bloomery.Filter(2000), set(keys)
        f.update(keys)
        ours, theirs = best([lambda: loop(f, keys), lambda: loop(s, keys)], 50 * ROUNDS)
        row(f"1 000 x `in`, {what}, in cache; beside a set", ours, theirs, 1000, 1.3, False)


def batches():
    keys = [f"https://example.org/page/{i}" for i in range(MANY)]
    f = bloomery.Filter(MANY)
    f.update(keys)

    def adds():
        for k in keys:
            f.add(k)
    check, count, update, each, add = best([lambda: f.check_many(keys), lambda: f.count_many(keys), lambda: f.update(keys),
                                            lambda: loop(f, keys), adds])
    row(f"check_many of a list of {MANY:,} str; beside a loop over `in`", check, each, MANY, 3, True)
    row(f"count_many, the same", count, each, MANY, 3, True)
    row(f"update, the same; beside a loop over `add`", update, add, MANY, 3, True)
    # What objects that are far away in memory cost: the same number of questions, about str in cache.
    near = keys[:1000] * (MANY // 1000)
    check, each = best([lambda: f.check_many(near), lambda: loop(f, near)])
    print(f"{'of 1,000 str again and again':58} {check / len(near) * 1e9:8.1f} {each / len(near) * 1e9:8.1f}   {each / check:6.2f}")


def arrays():
    import numpy
    n = MANY * 10
    keys = numpy.random.default_rng(1).integers(0, 2**64, n, dtype="u8")
    f = bloomery.Filter(n)
    f.update(keys)
    lib = ctypes.CDLL(str(BUILD / "libbloomery.so"))
    lib.blm_check_fixed.restype = ctypes.c_size_t
    data, handle = f.to_bytes(), ctypes.c_void_p()
    assert lib.blm_decode(data, ctypes.c_size_t(len(data)), None, ctypes.byref(handle), None) == 0
    at, flags = ctypes.c_void_p(keys.ctypes.data), numpy.empty(n, "u1")

    def c_check():
        lib.blm_check_fixed(handle, at, ctypes.c_size_t(8), ctypes.c_size_t(n), ctypes.c_void_p(flags.ctypes.data))

    def c_add():
        lib.blm_add_fixed(handle, at, ctypes.c_size_t(8), ctypes.c_size_t(n), ctypes.c_void_p(flags.ctypes.data), None)
    ours, theirs, ours_add, theirs_add = best([lambda: f.check_many(keys), c_check, lambda: f.update(keys), c_add], 3)
    row(f"check_many of {n:,} uint64 in numpy; beside blm_check_fixed", ours, theirs, n, 1.5, False)
    row("update, the same; beside blm_add_fixed", ours_add, theirs_add, n, 1.5, False)
    lib.blm_free(handle)


def flor():
    try:
        sys.path.append("/usr/lib/python3/dist-packages")
        from flor import BloomFilter
    except ImportError:
        print("python3-flor is not here: not compared")
        return
    keys = [b"https://example.org/page/%d" % i for i in range(min(MANY, 20_000))]
    theirs, f = BloomFilter(n=len(keys), p=0.01), bloomery.Filter(len(keys))

    def add(to):
        for k in keys:
            to.add(k)

    def check(call):
        for k in keys:
            call(k)
    a, b, c, d, e, g = best([lambda: add(f), lambda: add(theirs), lambda: check(f.check), lambda: check(theirs.check),
                             lambda: f.update(keys), lambda: f.check_many(keys)], 3)
    row("add, one by one; beside flor", a, b, len(keys), 5, True)
    row("check, one by one; beside flor", c, d, len(keys), 5, True)
    row("update; beside flor's add", e, b, len(keys), 5, True)
    row("check_many; beside flor's check", g, d, len(keys), 5, True)


def memory():
    keys = [f"https://example.org/page/{i}" for i in range(MANY)]
    s = set(keys)
    held = sys.getsizeof(s) + sum(map(sys.getsizeof, keys))
    print(f"\n{MANY:,} URLs: {held / MANY:.0f} bytes each in a set; in a filter", end="")
    for rate in (0.01, 1e-6):
        print(f" {bloomery.calc(MANY, rate).bytes / MANY:.2f} at {rate:g}", end=",")
    print()


def processor():
    found = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return found[0].split(":", 1)[1].strip() if found else "?"


print(f"bloomery {bloomery.__version__}, Python {sys.version.split()[0]}, kernel {bloomery.Filter(10).params.kernel}, {processor()}, "
      f"{time.strftime('%Y-%m-%d')}\n")
print(f"{'':58} {'ours ns':>8} {'ns':>8}    ratio")
PARTS = (singles, batches, arrays, flor, memory)
for part in [p for p in PARTS if p.__name__ in sys.argv[1:]] or PARTS:
    part()
