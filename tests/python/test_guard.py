# SPDX-License-Identifier: MIT
import contextlib
import os
import signal
import sys
import threading

import pytest

import bloomery
from bloomery import Guard


class Rows:
    """A data set in a dict, with a mark, that counts how often it was asked."""

    def __init__(self):
        self.rows, self.mark, self.asked = {}, None, 0

    def get(self, key):
        self.asked += 1
        return self.rows.get(key)

    def put(self, key, value):
        self.rows[key] = value

    def delete(self, key):
        return self.rows.pop(key, None) is not None

    def scan(self):
        return list(self.rows)

    def count(self):
        return len(self.rows)

    def read_mark(self):
        return self.mark

    def write_mark(self, mark):
        self.mark = mark

    def guard(self, **options):
        options.setdefault("items", 1000)
        return Guard(self.get, self.scan, put=self.put, delete=self.delete, count=self.count,
                     read_mark=self.read_mark, write_mark=self.write_mark, **options)


def test_what_is_not_there_is_not_asked_for():
    rows = Rows()
    rows.rows.update({b"%d" % i: b"v" for i in range(500)})
    with rows.guard() as g:
        g.wait()
        assert all(g.get(str(i)) == b"v" for i in range(500))
        before = rows.asked
        assert sum(g.get(f"absent {i}") is None for i in range(1000)) == 1000
        assert rows.asked - before < 50
        g.put("new", b"value")
        assert "new" in g and g.get("new") == b"value"
        assert g.delete("new") is True and g.delete("new") is False
        assert g.get("new") is None
        assert g.stats["reads_saved"] > 900 and g.stats["trusted"]
    with pytest.raises(ValueError, match="closed"):
        g.get("x")


def test_the_file_is_trusted_again(tmp_path):
    rows = Rows()
    with rows.guard(path=tmp_path / "g.blm") as g:
        g.wait()
        g.put("a", b"1")
    with rows.guard(path=tmp_path / "g.blm", manual=True) as g:
        assert g.stats["trusted"]
        assert g.get("a") == b"1" and "b" not in g


def test_what_a_callable_raises_comes_out():
    def broken(*args):
        raise ZeroDivisionError("of the data set")
    with Guard(broken, lambda: [b"k"], put=broken, delete=lambda k: None, items=10) as g:
        g.wait()
        for call in (lambda: g.get("k"), lambda: g.put("k", b"v")):
            with pytest.raises(ZeroDivisionError, match="of the data set"):
                call()
        with pytest.raises(TypeError, match="True if there was a row"):
            g.delete("k")
    with Guard(lambda k: None, broken, items=10, manual=True) as g:
        assert "anything" in g                  # nothing is known yet
        with pytest.raises(ZeroDivisionError):
            g.build()
        assert "anything" in g


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_scan_that_gives_what_is_no_key():
    with Guard(lambda k: None, lambda: [b"a", 1.5], items=10, manual=True) as g:
        with pytest.raises(TypeError, match="bytes, str or int"):
            g.build()


def test_a_scan_that_gives_one_text():
    with Guard({b"ada": b"1"}.get, lambda: b"ada", items=10, manual=True) as g:
        with pytest.raises(TypeError, match="many keys"):
            g.build()
        assert g.get("ada") == b"1"


def test_threads_puts_and_rebuilds():
    rows = Rows()
    with rows.guard(items=20_000) as g:
        g.wait()

        def work(t):
            for i in range(300):
                key = f"{t}-{i}"
                g.put(key, b"v")
                assert g.get(key) == b"v"
                if i % 100 == 0:
                    g.rebuild()
        threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        g.wait()
        assert all(g.get(f"{t}-{i}") == b"v" for t in range(4) for i in range(300))


def test_marks_go_together():
    with pytest.raises(ValueError, match="together"):
        Guard(lambda k: None, lambda: [], read_mark=lambda: None)


def test_a_guard_left_to_the_collector():
    rows = Rows()
    g = rows.guard()
    g.wait()
    rows.cycle = g                              # rows -> guard -> rows' methods -> rows
    del g, rows
    import gc
    gc.collect()
    assert bloomery.Guard is Guard


# ---- exceptions of callables

@contextlib.contextmanager
def unheard():
    """What is raised where nobody can be told. No fixture: pytest sets a hook of its own just before the test."""
    seen, before = [], sys.unraisablehook
    sys.unraisablehook = lambda u: seen.append(u.exc_value)
    try:
        yield seen
    finally:
        sys.unraisablehook = before


def raises(error):
    def call(*args):
        raise error
    return call


def test_a_guard_inside_another():
    inner = Guard(raises(KeyError("inner, caught")), lambda: [], manual=True)

    def put(key, value):
        with pytest.raises(KeyError):
            inner.get(key)
        raise ValueError("the real reason")

    def get(key):
        with pytest.raises(KeyError):
            inner.get(key)
        return b"v"
    with inner, Guard(get, lambda: [], put=put, manual=True) as outer:
        with pytest.raises(ValueError, match="the real reason"):
            outer.put("k", b"v")
        assert outer.get("k") == b"v"


def test_what_the_guard_does_without_is_shown():
    """count, read_mark and the look before a put into a cuckoo filter may fail: the call is done all the same."""
    rows, down = {b"k": b"0"}, RuntimeError("down")
    with unheard() as ignored, \
            Guard(raises(down), lambda: list(rows), put=rows.__setitem__, kind="cuckoo", manual=True) as g:
        g.build()
        g.put("k", b"1")
    assert rows[b"k"] == b"1" and ignored == [down]
    with unheard() as ignored, Guard(rows.get, lambda: list(rows), count=raises(down), manual=True) as g:
        g.build()
        assert "k" in g and "x" not in g
    assert ignored == [down]


def test_of_two_exceptions_the_one_that_mattered():
    rows, first, last = {b"k": b"0"}, RuntimeError("the look"), ValueError("the put")
    with unheard() as ignored, Guard(raises(first), lambda: list(rows), put=raises(last), kind="cuckoo", manual=True) as g:
        g.build()
        with pytest.raises(ValueError, match="the put"):
            g.put("k", b"1")
    assert ignored == [first]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_is_no_mere_error_always_comes_out(error, tmp_path):
    rows = {b"k": b"0"}
    with Guard(raises(error), lambda: list(rows), put=rows.__setitem__, kind="cuckoo", manual=True) as g:
        g.build()
        with pytest.raises(error):
            g.put("k", b"1")
        assert rows[b"k"] == b"1"               # it was done
    with Guard(rows.get, lambda: list(rows), count=raises(error), manual=True) as g:
        with pytest.raises(error):
            g.build()
    marked = Rows()
    with marked.guard(path=tmp_path / "g.blm") as g:
        g.wait()
    marked.read_mark = raises(error)
    with unheard(), pytest.raises(error):
        marked.guard(path=tmp_path / "g.blm")
    del marked.read_mark
    marked.guard(path=tmp_path / "g.blm").close()       # nobody else has the file open


def test_nothing_is_left_over_for_the_next_call(tmp_path):
    """A guard that is let go of looks at its mark, and nobody hears what that raises: least of all another guard's call."""
    rows, lost = Rows(), OSError("no mark")
    with Guard(rows.get, rows.scan, manual=True) as other:
        with unheard() as ignored:
            g = Guard(rows.get, rows.scan, put=rows.put, read_mark=lambda: rows.read_mark(), write_mark=rows.write_mark,
                      path=tmp_path / "g.blm", manual=True)
            g.build()
            rows.read_mark = raises(lost)
            del g
        assert ignored == [lost]
        with pytest.raises(bloomery.UnsupportedError):
            other.put("k", b"v")


# ---- waiting

def test_wait_hears_signals():
    go_on, scanned = threading.Event(), []

    def scan():
        go_on.wait(20)
        scanned.append(1)
        return []
    with Guard(lambda k: None, scan) as g:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        try:
            with pytest.raises(KeyboardInterrupt):
                timer.start()                   # in here: it may be heard before the next line is reached
                g.wait()
            assert not scanned                  # it did not wait for the end first
        finally:
            go_on.set()
            timer.join()
        g.wait()
        assert scanned


def test_close_hears_signals_while_a_callable_is_away():
    inside, go_on = threading.Event(), threading.Event()

    def get(key):
        inside.set()
        go_on.wait(20)
        return b"v"
    g = Guard(get, lambda: [], manual=True)
    thread = threading.Thread(target=g.get, args=("k",))
    thread.start()
    assert inside.wait(20)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()                       # in here: it may be heard before the next line is reached
            g.close()
        assert thread.is_alive() and not g.closed
    finally:
        go_on.set()
        timer.join()
    thread.join()
    g.close()
    assert g.closed


def test_close_among_threads_that_go_on_calling(script):
    """There was always one of them in a call, so close() never came back. What a call under way asks is still answered."""
    script("""
import os, threading
from bloomery import Guard
nested = []
def get(key):
    if key == b"k":
        nested.append(g.get("inner"))
    return bytes(sum(range(200)) % 7)
g = Guard(get, lambda: [], manual=True)
def calls():
    try:
        while True:
            g.get("k")
    except ValueError as e:
        assert "closed" in str(e)
        ended.append(1)
ended = []
threads = [threading.Thread(target=calls, daemon=True) for _ in range(4)]
[t.start() for t in threads]
while len(nested) < 100:
    pass
closer = threading.Thread(target=g.close, daemon=True)
closer.start()
closer.join(40)
if closer.is_alive():
    os._exit(1)
[t.join() for t in threads]
assert g.closed and len(ended) == 4 and None not in nested
""")


def test_build_hears_signals_between_keys(script):
    """An iterator written in C never looks for signals; this one never ends."""
    script("""
import itertools, os, signal, threading
from bloomery import Guard
def scan():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    return itertools.repeat(b"k")
with Guard(lambda k: None, scan, manual=True) as g:
    try:
        g.build()
    except KeyboardInterrupt:
        os._exit(0)
os._exit(1)
""")


def test_a_callable_that_waits_for_its_own_guard(script):
    script("""
import threading
from bloomery import Guard
said = []
def own(what):
    try:
        getattr(g, what)()
    except RuntimeError as e:
        assert "itself" in str(e)
        said.append(what)
def get(key):
    own("close"), own("wait")
    return b"v"
def put(key, value):
    own("close"), own("wait"), own("build")
def scan():
    own("close"), own("wait")
    return [b"k"]
g = Guard(get, scan, put=put, manual=True)
assert g.get("k") == b"v"
g.put("k", b"v")
g.build()
assert said == ["close", "wait", "close", "wait", "build", "close", "wait"], said
g.rebuild()
g.wait()
assert said[7:] == ["close", "wait"], said
g.close()
g.close()
""")


def test_the_collector_in_the_rebuilds_thread(script):
    """The last that knows of a guard is its own rebuild, and there the collector runs."""
    done = script("""
import atexit, gc, threading, time, weakref
scanned = []
atexit.register(lambda: print(scanned))         # after bloomery's own
import bloomery
gc.disable()
started, dropped, collected = threading.Event(), threading.Event(), threading.Event()
def scan():
    started.set()
    assert dropped.wait(20)
    yield b"1"
    gc.collect()
    collected.set()
    yield b"2"
    time.sleep(0.5)
    scanned.append("all")
class Store:
    def __init__(self):
        self.guard = bloomery.Guard(get=self.get, scan=scan)
    def get(self, key):
        return None
s = Store()
gone = weakref.ref(s)
assert started.wait(20)
del s
dropped.set()
assert collected.wait(20), "it waits for itself"
assert gone() is None
""")
    assert done.stdout == "['all']\n"           # no rebuild comes back to an interpreter that has ended


# ---- forks

def test_a_child_closes_what_its_parent_is_in(script):
    from test_threads import FORKS
    script(FORKS + """
inside, go_on = threading.Event(), threading.Event()
def get(key):
    inside.set()
    go_on.wait(30)
    return b"v"
g = bloomery.Guard(get, lambda: [b"k"], manual=True)
thread = threading.Thread(target=g.get, args=("k",))
thread.start()
assert inside.wait(20)
def work():
    try:
        g.get("k")
    except bloomery.BusyError:
        g.close()
        return 7
assert child(work) == 7
def forks(key):                     # a child that comes back through the call it was forked in
    forks.pid = os.fork()
    return b"v"
h = bloomery.Guard(forks, lambda: [b"k"], manual=True)
assert h.get("k") == b"v"
if forks.pid == 0:
    signal.alarm(20)
    h.close()
    os._exit(0)
assert os.waitpid(forks.pid, 0)[1] == 0
go_on.set()
thread.join()
h.close(), g.close()
""")


def test_what_cannot_be_called(script):
    """It was called all the same: a guard without a get ended the process."""
    script("""
from bloomery import Guard
def refused(name, *args, **named):
    try:
        Guard(*args, manual=True, **named).get("k")
    except TypeError as e:
        assert str(e) == f"{name} must be callable", e
    else:
        raise AssertionError(name)
def nothing(*args):
    return None
refused("get", None, nothing), refused("scan", nothing, None), refused("scan", nothing, [b"k"])
for name in ("put", "delete", "count"):
    refused(name, nothing, nothing, **{name: 3})
refused("write_mark", nothing, nothing, read_mark=nothing, write_mark=b"")
Guard(nothing, nothing, put=None, count=None, manual=True).close()
""")


def test_items_are_a_number_of_rows():
    """2**64 was taken for 0, and -1 for 2**64-1."""
    for items in (-1, 2**64):
        with pytest.raises(OverflowError, match="items is a whole number"):
            Rows().guard(items=items, manual=True)
    with Rows().guard(items=2e4, manual=True) as g:
        g.build()
        assert g.stats["capacity"] == 20_000


# ---- greenlets

GREENLETS = """
import sys
from greenlet import getcurrent, greenlet
from bloomery import Guard
def away():
    getcurrent().parent.switch()
def deep(n, call, *args):           # so that the stacks of two lie over each other in different ways
    return deep(n - 1, call, *args) if n else call(*args)
def outcome(call, *args):
    try:
        return call(*args)
    except Exception as e:
        return e
def begun(n, call, *args):
    g = greenlet(lambda: deep(n, outcome, call, *args))
    g.switch()
    return g
def says(e, *words):
    assert isinstance(e, RuntimeError) and all(w in str(e) for w in words), e
"""


@pytest.fixture
def greenlets(script):
    from conftest import need_greenlet
    need_greenlet()
    return lambda code, *args: script(GREENLETS + code, *args)


def test_greenlets_that_change_in_a_callable(greenlets):
    """Calls of one thread that end in any order: what was noted of them on the stack was other bytes by then."""
    greenlets("""
def get(key):
    away()
    if key.startswith(b"bad"):
        raise KeyError(key.decode())
    return key if key.startswith(b"inner") else inner.get(b"inner " + key)
inner, outer = Guard(get, lambda: [], manual=True), Guard(get, lambda: [], manual=True)
orders = [lambda g: g, lambda g: g[::-1], lambda g: g[::2] + g[1::2], lambda g: g[1::2] + g[-2::-2]]
for order in orders:
    keys = [b"%s %d" % (b"bad" if i % 3 else b"good", i) for i in range(20)]
    tasks = [begun(i % 7, outer.get, key) for i, key in enumerate(keys)]
    says(outcome(outer.close), "itself")
    answers = {}
    while len(answers) < len(tasks):
        for i in order(list(range(20))):
            if i not in answers:
                answer = tasks[i].switch()
                if tasks[i].dead:
                    answers[i] = answer
    for i, key in enumerate(keys):
        if i % 3:
            assert isinstance(answers[i], KeyError) and answers[i].args == (key.decode(),), (key, answers[i])
        else:
            assert answers[i] == b"inner " + key, (key, answers[i])
outer.close(), inner.close()
""")


def test_each_greenlets_call_gets_its_own_exceptions(greenlets):
    """A put into a cuckoo filter asks get first, and does without it: two callables, and others' calls between them."""
    greenlets("""
def get(key):
    away()
    raise OSError("get", key)
def put(key, value):
    away()
    raise ValueError("put", key)
unheard = []
sys.unraisablehook = lambda u: unheard.append(u.exc_value.args)
keys = [b"%d" % i for i in range(9)]
g = Guard(get, lambda: keys, put=put, kind="cuckoo", manual=True)
g.build()
tasks = [begun(i, g.put, key, b"v") for i, key in enumerate(keys)]
says(outcome(g.build), "itself")            # they are in get: in a put all the same
for task in tasks[::-1]:
    task.switch()                           # from get to put
answers = [task.switch() for task in tasks]
assert [a.args for a in answers] == [("put", key) for key in keys], answers
assert unheard == [("get", key) for key in keys], unheard
g.close()
""")


def test_a_greenlet_that_is_killed_in_a_callable(greenlets):
    greenlets("""
from greenlet import GreenletExit
seen = []
def get(key):
    try:
        away()
    except GreenletExit:
        seen.append(key)
        raise
g = Guard(get, lambda: [], manual=True)
first, second = begun(3, g.get, "first"), begun(0, g.get, "second")
del first                           # nobody knows it any more: greenlet ends it
assert seen == [b"first"]
second.throw()
assert seen == [b"first", b"second"]
g.close()
""")


def test_greenlets_that_would_wait_for_their_own_thread(greenlets, tmp_path):
    """The library waits there for a call that goes on only when this one gives way."""
    greenlets("""
def put(key, value):
    if key == b"slow":
        away()
def scan():
    away()
    return [b"k"]
g = Guard(lambda k: None, scan, put=put, manual=True)
slow = begun(2, g.put, "slow", b"v")
for call in g.build, g.wait, g.close:
    says(outcome(call), "itself")
slow.switch()
build = begun(0, g.build)
g.put("quick", b"v")                # is done when the scan ends
build.switch()
assert build.dead and "quick" in g and "absent" not in g
build = begun(0, g.build)
slow = begun(0, g.put, "slow", b"v")
says(build.switch(), "rebuild")     # with too many rows it would begin again, and wait for the put
slow.switch()
g.close()

g = Guard(lambda k: None, lambda: [], put=put, count=lambda: away() or 1, manual=True)
build = begun(0, g.build)
says(outcome(g.put, "k", b"v"), "count")
build.switch()
g.put("k", b"v"), g.close()

mark = []
def write(m):
    if mark:
        away()
    mark[:] = [m]
g = Guard(lambda k: b"v", lambda: [], put=put, delete=lambda k: True, read_mark=lambda: mark[0] if mark else None,
          write_mark=write, kind="cuckoo", path=sys.argv[1], manual=True)
mark.append(b"x")
build = begun(0, g.build)
for call in (g.build,), (g.put, "k", b"v"), (g.delete, "k"), (g.note_put, "k"), (g.sync,), (g.wait,), (g.close,):
    says(outcome(*call), call[0].__name__, "itself")
assert g.get("k") is None and "k" not in g and g.stats
build.switch()
assert build.dead
g.put("k", b"v")
mark.clear()
g.close()
""", tmp_path / "g.blm")


def test_no_memory_for_a_call(script):
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi, which takes memory away")
    script("""
import _testcapi
from bloomery import Guard
rows = {b"k": b"v"}
g = Guard(rows.get, lambda: list(rows), put=rows.__setitem__, delete=lambda k: rows.pop(k, None) is not None, manual=True)
def without(n, call, *args):        # without the n-th block that it asks for
    _testcapi.set_nomemory(n, n + 1)
    try:
        call(*args)
    except MemoryError:
        return True
    finally:
        _testcapi.remove_mem_hooks()
calls = [(g.get, b"k"), (g.put, b"k", b"v"), (g.delete, b"x"), (g.note_put, b"x"), (g.note_delete, b"x"), (g.build,),
         (g.sync,), (g.wait,), (g._json,), (g.__contains__, b"k")]     # not rebuild: its thread would be without too
for call in calls:
    assert any([without(n, *call) for n in range(3)]), call
    call[0](*call[1:])
g.wait()
assert g.get(b"k") == b"v" and g.get(b"x") is None
without(0, g.close)                 # nobody is in a call any more, and the end needs no memory
assert g.closed
""")


# ---- the end of the interpreter

def test_all_are_closed_though_some_fail(script, tmp_path):
    """The first whose mark could not be written kept the others from being closed: their files cost a rebuild."""
    done = script("""
import atexit, sys
guards, files = [], []
atexit.register(lambda: print([g.closed for g in guards], [f.closed for f in files]))   # after bloomery's own
import bloomery
class Marked:
    failing, mark = False, None
    def write(self, mark):
        if self.failing:
            raise OSError("no mark")
        self.mark = mark
marks = [Marked() for _ in range(4)]
for i, m in enumerate(marks):
    guards.append(bloomery.Guard(lambda k: None, lambda: [], read_mark=lambda m=m: m.mark, write_mark=m.write,
                                 path=f"{sys.argv[1]}/{i}", manual=True))
    guards[i].build()
    m.failing = True
class Failing(bloomery.Filter):
    def close(self):
        super().close()
        raise OSError("no space")
files += [Failing(10, path=f"{sys.argv[1]}/f{i}") for i in range(3)]
""", tmp_path)
    assert done.stdout == f"{[True] * 4} {[True] * 3}\n", done.stderr
    assert done.stderr.count("OSError: no mark") == 4 and done.stderr.count("OSError: no space") == 3
