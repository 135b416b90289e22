# SPDX-License-Identifier: MIT
"""Arrays give the same answers as their elements one by one."""
import array
import ctypes
import multiprocessing

import pytest

import bloomery
from bloomery import Filter

numpy = pytest.importorskip("numpy")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8", "?"])
def test_integers_of_every_width(dtype):
    values = numpy.array([0, 1, 5, 100, 127]).astype(dtype)
    if numpy.dtype(dtype).kind == "i":
        values[1] = -3
    f = Filter(100)
    f.update(values)
    assert all(int(v) in f for v in values)
    assert all(v in f for v in values)          # numpy's own scalars
    assert f.check_many(values).dtype == bool and f.check_many(values).all()
    assert f.check_many(values[::2]).all()      # with a stride
    assert f.check_many(values[::-1]).all()     # backwards
    g = Filter(like=f)
    g.update([int(v) for v in values])
    assert f == g


def test_fixed_bytes():
    texts = [b"a", b"bb", b"", b"dddd", b"e\0f"]
    s = numpy.array(texts, dtype="S4")
    f, g = Filter(100, seed=1), Filter(100, seed=1)
    f.update(s), g.update(texts)
    assert f == g and f.check_many(s).all()
    rows = numpy.arange(60, dtype="u1").reshape(3, 20)
    f, g, h = (Filter(100, seed=1) for _ in range(3))
    f.update(rows), g.update([bytes(r) for r in rows]), h.update(rows.view("V20").ravel())
    assert f == g == h
    f = Filter(100, seed=1)
    f.update(rows[::2])
    assert f.check_many(rows).tolist()[::2] == [True, True]


def test_str_arrays():
    texts = ["a", "grüße", "日本", "🦜", "", "longer than the others"]
    f, g = Filter(100, seed=1), Filter(100, seed=1)
    u = numpy.array(texts)
    f.update(u), g.update(texts)
    assert f == g
    assert f.check_many(u.astype(u.dtype.newbyteorder())).all()
    assert f.check_many(numpy.array(texts, dtype=object)).all()


@pytest.mark.parametrize("bad", [numpy.zeros(3), numpy.zeros((2, 2)), numpy.zeros((2, 2, 2), "u1"),
                                 numpy.zeros(3, "c16"), numpy.zeros((), "u8")])
def test_other_arrays_are_refused(bad):
    with pytest.raises(TypeError):
        Filter(10).update(bad)


def test_array_and_memoryview():
    a = array.array("q", [1, -2, 3])
    f = Filter(10)
    f.update(a)
    assert -2 in f and f.check_many(a) == [True] * 3
    assert f.check_many(memoryview(a)) == [True] * 3
    with pytest.raises(TypeError):
        f.update(array.array("d", [1.0]))


def test_a_floating_scalar_is_no_key():
    with pytest.raises(TypeError):
        numpy.float64(1) in Filter(10)


def test_empty_batches():
    f = Filter(10)
    assert f.update([]) == 0 and f.check_many([]) == [] and f.update(iter(())) == 0
    assert f.check_many(numpy.array([], dtype="u8")).shape == (0,)


def test_large_batches_in_chunks():
    n = 600_000                                 # more than one chunk
    f = Filter(n, kind="classic")
    assert f.update(str(i) for i in range(n)) > n * 0.98
    assert f.count_many(str(i) for i in range(n)) == n
    g = Filter(like=f)
    g.update(numpy.array([str(i) for i in range(n)], dtype="S"))
    assert f == g
    f, g = Filter(n, seed=1), Filter(n, seed=1)
    a = numpy.arange(n, dtype="i4")
    f.update(a), g.update(a.astype("u8"))
    assert f == g


def test_progress():
    seen = []
    f = Filter(600_000)
    f.update(range(600_000), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (600_000, 600_000) and len(seen) > 1
    seen.clear()
    f.update((i for i in range(10)), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(10, None)]
    with pytest.raises(bloomery.CancelledError):
        f.update(range(10), progress=lambda done, total: False)
    with pytest.raises(ZeroDivisionError):
        f.update(range(10), progress=lambda done, total: 1 / 0)


def test_a_bar(capsys):
    pytest.importorskip("tqdm")
    f = Filter(100)
    f.update(range(100), progress=True)
    assert "100/100" in capsys.readouterr().err.replace(" ", "")


def test_objects_that_change_under_a_batch():
    keys = [bytearray(b"a"), bytearray(b"b")]

    def give():
        for k in keys:
            yield k
            k[:] = b"changed while the batch is collected"
    f = Filter(10)
    f.update(give())
    assert f.check_many([b"a", b"b"]) == [True, True]


def test_columns():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return numpy.array([1, 2, 3])
    f = Filter(10)
    f.update(Column())
    assert f.check_many(Column()).tolist() == [True] * 3


@pytest.mark.parametrize("kind", ["blocked", "scalable", "counting", "cuckoo", "window", "guava"])
def test_lists_and_tuples_as_their_items(kind):
    """Lists are hashed in place, in groups of 256 and chunks of 16 384; an item of another type ends that half-way."""
    class Index:
        def __init__(self, n):
            self.n = n

        def __index__(self):
            return self.n
    odd = [bytearray(b"odd"), memoryview(b"view"), Index(77), 2**63, type("S", (str,), {})("sub")]
    for at in (0, 1, 255, 256, 16_383, 16_384, 20_000):
        keys = [(f"grüße{i}" if i % 5 else f"k{i}") if i % 3 else (b"%d" % i if i % 2 else -i) for i in range(20_000)]
        keys[at:at] = odd
        options = dict(scheme="guava") if kind == "guava" else dict(kind=kind)
        f, g = (Filter(50_000, 1e-4, seed=None if kind == "guava" else 1, **options) for _ in range(2))
        assert f.update(keys) == g.update(iter(keys))
        assert f.check_many(tuple(keys)) == [True] * len(keys)
        others = [f"other{i}" for i in range(3000)] + keys[:3000]
        assert f.check_many(others) == g.check_many(iter(others)) == [k in f for k in others]
        assert f.add_many(others) == g.add_many(iter(others))
        assert f.count_many(others) == len(others)


def test_a_list_that_changes_under_a_batch():
    keys = [f"key{i}" for i in range(100_000)]
    f = Filter(200_000)

    def shrink(done, total):
        del keys[50_000:]
    f.update(keys, progress=shrink)
    assert 16_384 <= len(f) <= 50_000 and all(f.check_many(keys))
    for g in (f, Filter(100, scheme="guava")):
        for bad in (["a", "\ud800"], ["a"] * 300 + ["\ud800"]):
            with pytest.raises(UnicodeEncodeError):
                g.update(bad)
    with pytest.raises(TypeError, match="a key is bytes, str or int, not float"):
        f.update(["a"] * 300 + [1.5])
    with pytest.raises(OverflowError):
        f.update(["a", 2**70])

    class Closes:
        def __index__(self):
            f.close()
            return 1
    with pytest.raises(ValueError, match="closed"):
        f.update(["a", Closes(), "b"])
    with pytest.raises(ValueError, match="closed"):
        f.update(["a"])


def test_answers_that_are_nearly_all_the_same():
    f = Filter(1000, 1e-9)
    f.update(range(0, 1000, 2))
    for keys in (list(range(0, 1000, 2)) + [1, 3], [1, 3, 5] * 200 + [2], list(range(1000)), [], [2], [1]):
        assert f.check_many(keys) == [k % 2 == 0 for k in keys]


def test_one_char_is_a_key_also_if_it_is_nul():
    """Format c is one byte, not a text that NULs fill up: what a memoryview's items are."""
    m = memoryview(b"\0a\0b").cast("c")
    f = Filter(100, 1e-9)
    f.update(m)
    assert all(key in f for key in m) and b"\0" in f and b"" not in f
    assert f.check_many(memoryview(b"\0ax").cast("c")[::2]) == [True, False]


@pytest.mark.parametrize("call", ["check_many", "add_many", "discard_many"])
def test_a_mask_can_be_changed(call):
    f = Filter(100, 1e-6, kind="cuckoo")
    f.update(range(3))
    mask = getattr(f, call)(numpy.arange(6))
    mask &= numpy.arange(6) % 2 == 0
    mask[5] = True
    assert mask.dtype == bool and mask[5] and not mask[1] and not mask[3]


def check_same(array, keys):
    """Every call takes the array for these keys."""
    f, g = (Filter(1000, 1e-9, kind="classic", seed=1) for _ in range(2))
    assert f.update(array) == g.update(keys) and f == g
    assert f.count_many(array) == len(keys) and list(f.check_many(array)) == [True] * len(keys)
    assert not any(f.add_many(array)) and f == g
    c = Filter(1000, kind="counting")
    c.update(keys)
    assert all(c.discard_many(array)) and not c


def test_arrays_of_ctypes():
    """They give no strides, although these are asked for."""
    check_same((ctypes.c_uint32 * 3)(1, 2, 3), [1, 2, 3])
    check_same((ctypes.c_int16.__ctype_be__ * 2)(-1, 500), [-1, 500])
    check_same(multiprocessing.RawArray("Q", range(300)), list(range(300)))
    check_same(ctypes.create_string_buffer(b"abc"), [b"a", b"b", b"c", b"\0"])
    rows = (ctypes.c_char * 2 * 3)()
    for i, row in enumerate(rows):
        row.raw = b"%d\0" % i
    check_same(rows, [b"0\0", b"1\0", b"2\0"])
    assert Filter(10).update((ctypes.c_uint64 * 0)()) == 0
    for bad in ((ctypes.c_double * 2)(), (ctypes.c_uint32 * 2 * 2)(), (ctypes.c_char * 2 * 2 * 2)(), ctypes.c_int(3)):
        with pytest.raises(TypeError):
            Filter(10).update(bad)


def test_few_long_texts():
    """numpy gives each the width of the longest; what a chunk takes is measured by that."""
    f = Filter(100)
    f.update(numpy.array(["a" * 10_000_000, "b"]))      # 40 MB an element
    assert "a" * 10_000_000 in f and "b" in f and f.stats.items == 2
    texts = [chr(1000 + i) * (i % 700) for i in range(3000)]
    check_same(numpy.array(texts[700:1400]), texts[700:1400])
    seen = []
    f.count_many(numpy.array(texts), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3000, 3000) and len(seen) > 1


@pytest.mark.parametrize("view", [numpy.asfortranarray, lambda a: a[:, ::2], lambda a: a[:, ::-1], lambda a: a[::-2, 1::3],
                                  lambda a: a[:, 3:4], lambda a: a.view("i1").T, lambda a: numpy.broadcast_to(a[:, :1], (6, 5))])
def test_rows_that_are_not_dense(view):
    rows = view(numpy.arange(60, dtype="u1").reshape(6, 10))
    check_same(rows, [bytes(r.tolist()) for r in rows])
