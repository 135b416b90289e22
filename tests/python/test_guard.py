# SPDX-License-Identifier: MIT
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
