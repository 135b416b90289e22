# SPDX-License-Identifier: MIT
"""Threads: shared filters are used at once, others take turns, and nothing is lost. Forks: a child has none of them."""
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


def test_two_filters_in_any_order_and_a_writer(script):
    """a == b enters two filters as a |= b does. In the order of the arguments, three threads waited for each other: one
    had b and wanted a, one had a and wanted b, and between them stood one who wanted to write."""
    script("""
import array, os, threading, time
import bloomery
a, b = sorted((bloomery.Filter(1_000_000, seed=1) for _ in range(2)), key=id)
keys, end = array.array("Q", range(300_000)), time.monotonic() + 2
def loop(call):
    while time.monotonic() < end:
        call()
calls = [lambda: a.update(keys), lambda: b._union(a), lambda: a.add("x"), lambda: b == a, lambda: a.compare(b), lambda: b.compare(a)]
threads = [threading.Thread(target=loop, args=(c,), daemon=True) for c in calls]
[t.start() for t in threads]
[t.join(40) for t in threads]
os._exit(sum(t.is_alive() for t in threads))
""")


def test_a_writer_among_readers_that_never_end(script):
    """Reads that overlap left no moment without one, and an add did not come in."""
    script("""
import os, threading
import bloomery
f = bloomery.Filter(5_000_000)
reads = [lambda: f.stats, f.fingerprint, f.copy, lambda: f == f, lambda: f.compare(f)]
def loop(call):
    try:
        while True:
            call()
    except ValueError as e:         # the writer closes it at its end
        assert "closed" in str(e)
threads = [threading.Thread(target=loop, args=(c,), daemon=True) for c in reads]
[t.start() for t in threads]
def writes():
    for i in range(5):
        assert f.add(str(i))
    f.close()
writer = threading.Thread(target=writes, daemon=True)
writer.start()
writer.join(45)
if writer.is_alive():
    os._exit(1)
[t.join() for t in threads]
""")


FORKS = """
import array, faulthandler, os, signal, sys, threading, time
import bloomery

def child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)            # a child that hangs dies of it
        try:
            os._exit(work())
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(99)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFEXITED(status), f"killed by signal {status}: it hung"
    return os.WEXITSTATUS(status)
"""


def test_a_child_reads_while_its_parent_adds(script):
    script(FORKS + """
f = bloomery.Filter(1_000_000)
f.add("x")
keys, stop = array.array("Q", range(1_000_000)), False
def adds():
    while not stop:
        f.update(keys)
def lines():                        # some stand in line, and have the lock of the line now and then
    while not stop:
        f.count_many(keys[:1000])
threads = [threading.Thread(target=t) for t in (adds, lines, lines)]
[t.start() for t in threads]
def work():
    assert "x" in f and f.count_many(["x"] * 1000) == 1000 and f.stats.ones
    f.add("mine"), f.update(range(1000)), f.copy() == f
    threading.Thread(target=f.clear).start()
    f.close()
    return 7
try:
    for _ in range(20):
        time.sleep(0.01)
        assert child(work) == 7
finally:
    stop = True
    [t.join() for t in threads]
""")


def test_a_child_does_not_read_what_is_half_changed(script):
    """A filter that grows may be anything in the middle of an add. The child is told so, at every call, and does not hang."""
    script(FORKS + """
f = bloomery.Filter(1000, kind="scalable")
f.add("x")
keys, stop = array.array("Q", range(2_000_000)), False
def adds():
    while not stop:
        f.update(keys)
        f.clear()
        f.add("x")
thread = threading.Thread(target=adds)
thread.start()
def refused(call):
    try:
        call()
    except bloomery.BusyError as e:
        assert "forked" in str(e)
        return True
    return False
def work():
    told = [refused(c) for c in (lambda: "x" in f, lambda: f.add("y"), lambda: f.update(["y"] * 1000), lambda: f == f, f.copy,
                                 lambda: f.stats)]
    assert all(told) or not any(told)
    f.close()
    assert f.closed
    return told[0]
try:
    for tries in range(200):
        time.sleep(0.01)
        told = child(work)
        assert told in (0, 1)
        if told:
            break
finally:
    stop = True
    thread.join()
assert told, "no fork met an add"
assert "x" in f                     # nothing of this is the parent's
""")
