# SPDX-License-Identifier: MIT
"""Threads: shared filters are used at once, others take turns, and nothing is lost."""
import threading

from bloomery import Filter


def together(*calls):
    errors = []

    def run(call):
        try:
            call()
        except BaseException as e:
            errors.append(e)
    threads = [threading.Thread(target=run, args=(c,)) for c in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []


def adder(f, t, n):
    keys = [f"{t}-{i}" for i in range(n)]
    return lambda: (f.update(keys), [f.add(k + "x") for k in keys[:1000]])


def test_adds_from_threads_are_all_there():
    for shared in (False, True):
        f = Filter(200_000, shared=shared)
        together(*(adder(f, t, 20_000) for t in range(6)))
        for t in range(6):
            assert f.count_many(f"{t}-{i}" for i in range(20_000)) == 20_000
            assert f.count_many(f"{t}-{i}x" for i in range(1000)) == 1000


def test_readers_writers_and_the_whole():
    f = Filter(100_000, kind="counting")
    f.update(range(50_000))

    def check():
        for _ in range(10):
            assert f.count_many(range(50_000)) == 50_000

    def change():
        for i in range(10):
            f.update([f"{i}-{j}" for j in range(1000)])
            f.discard_many([f"{i}-{j}" for j in range(1000)])
            f.copy().clear()
            f.stats
            f.to_bytes()
    together(check, check, change, change)
    assert f.count_many(range(50_000)) == 50_000


def test_two_filters_united_both_ways():
    a = Filter(100_000, seed=1)
    b = Filter(100_000, seed=1)
    a.update(range(1000)), b.update(range(1000, 2000))

    def unite(x, y):
        for _ in range(50):
            x |= y
    together(lambda: unite(a, b), lambda: unite(b, a))
    assert a == b and a.count_many(range(2000)) == 2000


def test_close_while_others_use_it():
    f = Filter(100_000)
    keys = list(range(100_000))

    def use():
        try:
            for _ in range(100):
                f.update(keys)
        except ValueError as e:
            assert "closed" in str(e)
    together(use, use, f.close)


def test_a_list_that_shrinks_while_its_batch_waits():
    """The batch of one thread waits for its turn while another thread, which adds to the same filter, empties its list.
    Both have their turns: without a line, one of them was seen to wait 70 s."""
    keys = [f"key{i}" for i in range(200_000)]
    f = Filter(1_000_000)
    stop = threading.Event()

    def adds():
        while not stop.is_set():
            f.update(range(20_000))
            del keys[len(keys) // 8:]
    t = threading.Thread(target=adds)
    t.start()
    try:
        while keys:
            assert f.count_many(keys) <= 200_000
    finally:
        stop.set()
        t.join()
