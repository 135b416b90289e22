# SPDX-License-Identifier: MIT
"""Every call, a few hundred times: neither Python's objects nor malloc's bytes may grow with the rounds.

A leak of one object or one block a call is ROUNDS of them; what is left over otherwise (caches that
grow once, the allocator's own pages) is less than one a round.
"""
import copy
import ctypes
import gc
import os
import pickle
import sys

import pytest

import bloomery
from bloomery import Filter, Guard

ROUNDS = 300


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def malloc_used():
    """Bytes in use as glibc counts them, all arenas' mapped blocks included."""
    info = ctypes.CDLL(None).mallinfo2
    info.restype = Mallinfo2
    m = info()
    return m.uordblks + m.hblkhd


def swallow(error, call, *args, **named):
    try:
        call(*args, **named)
    except error:
        return
    raise AssertionError(f"{call} did not fail")


def made():
    Filter(1000), Filter(1000, 0.01, kind="scalable"), Filter(1000, kind="window", window=60)
    swallow(ValueError, Filter, 1000, 2.0)
    swallow(ValueError, Filter, 1000, kind="nothing")


def singles():
    f = Filter(100)
    f.add("a"), f.add(b"b"), f.add(3), "a" in f, bytearray(b"b") in f, f.check("x"), f.positions("a")
    swallow(TypeError, f.add, 1.5)
    swallow(TypeError, f.add, memoryview(bytearray(8)).cast("I"))
    swallow(OverflowError, f.add, 2**70)
    swallow(UnicodeEncodeError, f.check, "\ud800")


def batches():
    f = Filter(100)
    f.update(["a", b"b", 3]), f.update(str(i) for i in range(50)), f.add_many(["x", "y"])
    f.check_many(["a"] * 20), f.count_many({"a", "b"}), f.check_many(memoryview(b"abcd").cast("I"))
    f.update([bytearray(b"c"), memoryview(bytes(4))])
    swallow(TypeError, f.update, ["a", None])
    swallow(TypeError, f.update, "abc")

    def broken():
        yield "a"
        raise KeyError("b")
    swallow(KeyError, f.update, broken())


def arrays():
    numpy = pytest.importorskip("numpy")
    f = Filter(1000)
    f.update(numpy.arange(100)), f.check_many(numpy.array(["a", "b"])), f.check_many(numpy.array([b"a"]))
    f.check_many(numpy.arange(10, dtype="u4")[::2])
    swallow(TypeError, f.update, numpy.array([1.5]))


def removes():
    f = Filter(100, kind="cuckoo")
    f.update(["a", "b"]), f.discard("a"), f.discard_many(["b", "c"])
    swallow(KeyError, f.remove, "nobody")


def pairs():
    f = Filter(100, seed=1)
    g = Filter(like=f)
    f.add("a"), f | g, f & g, f == g, f.compare(g), copy.copy(f), pickle.loads(pickle.dumps(f))
    f |= g
    f &= g
    swallow(bloomery.MismatchError, lambda: f | Filter(100, seed=2))


def facts():
    f = Filter(100)
    repr(f), f.stats, f.estimate, f.params, len(f), f.try_rate(100), bloomery.calc(1000, 0.01)
    bloomery.formats(), bloomery.kinds(), bloomery.schemes()


def files(folder=None):
    path = os.path.join(folder, "a.blm")
    with Filter(100, path=path) as f:
        f.add("a")
        f.sync()
    with Filter.open(path) as f:
        "a" in f
    f = Filter.load(path)
    f.save(path + "2")
    Filter.from_bytes(f.to_bytes())
    swallow(FileNotFoundError, Filter.open, path + ".none")
    swallow(ValueError, Filter.from_bytes, b"not a filter")
    os.unlink(path)


def guards():
    rows = {b"a": b"1"}

    def get(key):           # a new object each time: one that is held elsewhere hides a lost reference
        return bytes(bytearray(rows[key])) * 2 if key in rows else None
    with Guard(get, lambda: list(rows), put=rows.__setitem__, delete=lambda k: rows.pop(k, None) is not None, items=100) as g:
        g.wait(), g.get("a"), g.get("b"), g.put("c", b"2"), g.delete("c"), g.stats

    def fails(key):
        raise RuntimeError("down")
    with Guard(fails, lambda: [b"a"], items=100) as g:
        g.wait()
        swallow(RuntimeError, g.get, "a")
    swallow(TypeError, Guard, get, lambda: [], write_mark=b"", read_mark=lambda: bytes(bytearray(3)))
    swallow(OverflowError, Guard, get, lambda: [], items=-1)
    swallow(ValueError, Guard, get, lambda: [], rate=2.0)


def greenlets():
    from conftest import need_greenlet
    greenlet = need_greenlet()

    def get(key):
        greenlet.getcurrent().parent.switch()
        raise KeyError(key)
    with Guard(get, lambda: [], manual=True) as g:
        tasks = [greenlet.greenlet(swallow) for _ in range(4)]
        [t.switch(KeyError, g.get, "a") for t in tasks]
        tasks.pop()                     # it is killed
        [t.switch() for t in tasks]


@pytest.mark.parametrize("call", [made, singles, batches, arrays, removes, pairs, facts, files, guards, greenlets],
                         ids=lambda c: c.__name__)
def test_nothing_grows(call, tmp_path):
    args = (str(tmp_path),) if call is files else ()
    rounds = ROUNDS // 6 if call is guards else ROUNDS

    def grown():
        gc.collect()
        before = sys.getallocatedblocks(), malloc_used()
        for _ in range(rounds):
            call(*args)
        gc.collect()
        return sys.getallocatedblocks() - before[0], malloc_used() - before[1]
    grown()
    # A leak is there every time; an arena or a cache that grows once is not.
    tries = [grown() for _ in range(3)]
    blocks, used = min(t[0] for t in tries), min(t[1] for t in tries)
    assert blocks < rounds, f"{blocks} objects more after {rounds} rounds"
    assert used < 16 * rounds, f"{used} bytes more after {rounds} rounds"
