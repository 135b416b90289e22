# SPDX-License-Identifier: MIT
"""Arrays give the same answers as their elements one by one."""
import array

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
