# SPDX-License-Identifier: MIT
"""No memory while a server reads its RDB file: each allocation of the module that may fail does so once, and
then with all after it, for each kind of value. The server says why, and ends as it does for a file that it
cannot read; or it serves what was saved. It never dies of a signal, and never serves part of a filter.
(test_memory.py does the same to commands, RESTORE among them.)"""
import math
import os
import shutil
import struct
import tempfile

import server
from server import BUILD, Server, digest

MANY = [f"item {i}" for i in range(300)]
NATIVE = {kind: [["BF.RESERVE", "k", "0.01", "100", "KIND", kind, "SEED", "7"], ["BF.MADD", "k", *MANY[:50]]]
          for kind in ("classic", "blocked", "counting", "cuckoo", "scalable", "window")}
# As versions of RedisBloom wrote them that rounded to bytes: its array is not a whole number of words.
ODD = [["BF.LOADCHUNK", "k", 1, struct.pack("<QIII", 0, 1, 5, 2) +
        struct.pack("<QQQddIQB", 28, 224, 0, 0.005, -math.log(0.005) / 0.480453013918201, 8, 20, 0)],
       ["BF.LOADCHUNK", "k", 29, bytes(28)], ["BF.MADD", "k", *MANY[:10]]]
# name: (what makes k, at least so many allocations)
VALUES = {
    "BF, one layer": ([["BF.RESERVE", "k", "0.01", "400"], ["BF.MADD", "k", *MANY]], 3),
    "BF, layers": ([["BF.RESERVE", "k", "0.01", "10", "EXPANSION", "2"], ["BF.MADD", "k", *MANY]], 8),
    "BF, fixed": ([["BF.RESERVE", "k", "0.01", "400", "NONSCALING"], ["BF.MADD", "k", *MANY]], 3),
    "BF, odd": (ODD, 5),
    "CF, one layer": ([["CF.RESERVE", "k", "1000"], ["CF.INSERT", "k", "ITEMS", *MANY]], 3),
    "CF, layers": ([["CF.RESERVE", "k", "8", "BUCKETSIZE", "2", "EXPANSION", "2"],
                    ["CF.INSERT", "k", "ITEMS", *MANY]], 8),
    **{f"native, {kind}": (before, 4) for kind, before in NATIVE.items()},
    "native, scalable, layers": ([NATIVE["scalable"][0], ["BF.MADD", "k", *MANY]], 6),
}
REFUSED = " value refused: "  # in the log; the type comes before, the reason after


def shape(c):
    """All that can be told of k."""
    family = "CF" if c("TYPE", "k") == "MBbloomCF" else "BF"
    return digest(c, "k"), c(f"{family}.INFO", "k"), c(f"{family}.MEXISTS", "k", *MANY, *map(str, range(300)))


def starts(s, at, on):
    """Starts the server anew while its allocation `at` fails. Does it serve?"""
    os.environ["FAIL_AT"] = str(at)
    os.environ.pop("FAIL_ON", None)
    if on:
        os.environ["FAIL_ON"] = "1"
    (s.directory / "server.log").unlink(missing_ok=True)
    try:
        s.start()
        return True
    except AssertionError:
        return False
    finally:
        del os.environ["FAIL_AT"]


def judge(s, serves, right, context):
    if serves:
        assert shape(s.client()) == right, f"{context}: it serves something else"
        return False
    code, log = s.process.returncode, s.log()
    # Redis looks through the file before it ends, and exits with what it found: 0, for nothing is wrong with it.
    assert code in (0, 1), f"{context}: ended with {code}\n{log[-3000:]}"
    said = [line.split(REFUSED)[1] for line in log.splitlines() if REFUSED in line]
    assert len(said) == 1 and "memory" in said[0], f"{context}: {said}\n{log[-3000:]}"
    return True


def each_allocation(s, name, least):
    assert starts(s, 0, False), f"{name}: {s.log()}"
    c = s.client()
    wanted, right = int(c("FAIL.CALLS")), shape(c)
    s.kill()
    assert wanted >= least, f"{name}: only {wanted} allocations"
    refused = 0
    for at in range(1, wanted + 1):
        for on in (False, True):
            refused += judge(s, starts(s, at, on), right, f"{name}, allocation {at}{' and all after' * on}")
            s.kill()
    assert refused, f"{name}: nothing was refused"
    return wanted, refused


def files():
    total = 0
    for name, (before, least) in VALUES.items():
        directory = tempfile.mkdtemp(prefix="bloomery-redis-")
        try:
            s = Server(directory=directory)
            c = s.client()
            for words in before:
                c(*words)
            assert c("SAVE") == "OK"
            right = shape(c)
            s.kill()
            assert starts(s, 0, False) and shape(s.client()) == right, f"{name}: {s.log()}"
            s.kill()
            wanted, refused = each_allocation(s, name, least)
            print(f"  {name}: {wanted} allocations, refused {refused} times of {2 * wanted}", flush=True)
            total += wanted
        finally:
            s.kill()
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{total} allocations")


server.MODULE = str(BUILD / "redis" / "failing.so")
server.run([files])
