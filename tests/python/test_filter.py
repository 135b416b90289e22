# SPDX-License-Identifier: MIT
import array
import copy
import ctypes
import mmap
import pickle

import pytest

import bloomery
from bloomery import Filter


def keys(n, word="key"):
    return [f"{word}-{i}" for i in range(n)]


KINDS = ["classic", "blocked", "counting", "scalable", "cuckoo", "window"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_false_negative_and_the_rate(kind):
    f = Filter(20_000, 0.01, kind=kind, seed=7)
    assert f.update(keys(20_000)) > 19_500
    assert all(f.check_many(keys(20_000)))
    wrong = f.count_many(keys(100_000, "other"))
    assert wrong < 100_000 * 0.01 * 1.2     # 6 sigma above the promise
    assert f.try_rate(50_000).holds
    assert f.estimate.low * 0.98 <= 20_000 <= f.estimate.high * 1.02


def test_add_says_whether_it_is_new():
    f = Filter(100)
    assert f.add("a") is True
    assert f.add("a") is False
    assert f.add_many(["a", "b", "b"]) == [False, True, False]
    assert f.update(["b", "c"]) == 1
    assert len(f) == 3
    assert "a" in f and f.check("c")


def test_keys_are_bytes_whatever_they_come_in():
    f = Filter(100, seed=1)
    f.add("grüße")
    for same in ("grüße".encode(), bytearray("grüße".encode()), memoryview("grüße".encode())):
        assert same in f
        assert f.check_many([same]) == [True]
    f.add(-2)
    assert (-2).to_bytes(8, "little", signed=True) in f
    f.add(2**64 - 1)
    assert b"\xff" * 8 in f
    f.add("")
    assert b"" in f
    assert True in f or f.add(1)            # a bool is the int that it is


def test_whatever_is_made_of_bytes_is_a_key():
    buffer = mmap.mmap(-1, 3)
    buffer[:] = b"abc"
    same = [buffer, array.array("B", b"abc"), (ctypes.c_ubyte * 3)(*b"abc"), ctypes.create_string_buffer(b"abc", 3),
            memoryview(b"a.b.c.")[::2], memoryview(b"cba")[::-1]]
    for key in same:
        f = Filter(100, kind="counting")
        assert f.add(key) and b"abc" in f and key in f and f.check(key) and f.count(key) == 1
        assert f.positions(key) == f.positions("abc") and f.check_many([key, b"x"]) == [True, False]
        assert f.discard(key) and not f
        assert b"abc" in bloomery.build([key])


def test_arrays_of_numpy_are_bytes_and_its_numbers_are_numbers():
    numpy = pytest.importorskip("numpy")
    f = Filter(100)
    f.add(numpy.frombuffer(b"abc", "u1"))
    f.add(numpy.arange(20, dtype="u1")[::3])
    f.add(numpy.array([b"void"], "V4")[0])
    assert f.check_many(["abc", bytes(range(0, 20, 3)), "void"]) == [True] * 3
    f.add(numpy.array([7], "u1"))                           # one byte
    assert b"\7" in f and 7 not in f
    f.update([numpy.int64(5), numpy.array(6)])
    assert 5 in f and numpy.uint8(5) in f and 6 in f
    rows = numpy.arange(60, dtype="u1").reshape(6, 10)
    for a in (rows, numpy.asfortranarray(rows)):
        assert bloomery.build(a).count_many(rows) == 6
    for bad in (numpy.zeros(3), numpy.float64(1), rows, numpy.zeros(2, "u2"), ctypes.c_int(3), (ctypes.c_int * 3)()):
        with pytest.raises(TypeError, match="bytes, str or int"):
            f.add(bad)


@pytest.mark.parametrize("bad", [1.5, None, object(), ["a"], ("a",), {"a": 1}])
def test_other_types_are_refused(bad):
    f = Filter(10)
    for call in (f.add, f.check, f.discard, f.positions, lambda k: f.check_many([b"ok", k])):
        with pytest.raises(TypeError, match="bytes, str or int"):
            call(bad)


@pytest.mark.parametrize("large", [2**64, -2**63 - 1, 10**30])
def test_integers_past_64_bits_are_refused(large):
    f = Filter(10)
    for call in (f.add, f.check, lambda k: f.update([k])):
        with pytest.raises(OverflowError, match="64 bits"):
            call(large)


def test_a_lone_surrogate_has_no_bytes():
    with pytest.raises(UnicodeEncodeError):
        Filter(10).add("\ud800")


def test_one_key_where_many_are_wanted():
    f = Filter(10)
    for one in ("abc", b"abc", bytearray(b"abc")):
        with pytest.raises(TypeError, match="many keys"):
            f.update(one)
    with pytest.raises(TypeError):
        f.update(5)


def test_an_iterable_that_raises():
    def broken():
        yield "a"
        raise ZeroDivisionError
    f = Filter(10)
    with pytest.raises(ZeroDivisionError):
        f.update(broken())
    assert len(f) == 0                      # the chunk had not been given to the library yet


def test_remove():
    f = Filter(100, kind="counting")
    f.add("a")
    f.remove("a")
    assert "a" not in f
    with pytest.raises(KeyError) as e:
        f.remove("a")
    assert isinstance(e.value, bloomery.AbsentError) and e.value.status == "E_ABSENT"
    assert f.discard("a") is False
    f.update(["x", "y"])
    assert f.discard_many(["x", "z"]) == [True, False]
    with pytest.raises(bloomery.UnsupportedError):
        Filter(10).discard("a")


def test_set_operations():
    a = Filter(1000)
    b = Filter(like=a)
    a.update(keys(500))
    b.update(keys(500, "other") + keys(100))
    both = a | b
    assert all(both.check_many(keys(500))) and all(both.check_many(keys(500, "other")))
    common = a & b
    assert all(common.check_many(keys(100)))
    assert 70 < a.compare(b).both.value < 130
    assert a.union(b) == both and a.intersection(b) == common
    c = a.copy()
    c |= b
    assert c == both and c != a
    c = a.copy()
    c &= b
    assert c == common
    a |= a
    assert a != both
    assert (a == 5) is False
    for op in ("__or__", "__and__", "__ior__", "__iand__"):
        assert getattr(a, op)({1}) is NotImplemented
    with pytest.raises(TypeError):
        a | {"x"}
    with pytest.raises(TypeError):
        hash(a)


def test_unequal_parameters_do_not_meet():
    with pytest.raises(bloomery.MismatchError, match="seed"):
        Filter(100, seed=1) | Filter(100, seed=2)


def test_union_with_itself_does_not_double_counters():
    f = Filter(100, kind="counting")
    f.add("a")
    f |= f
    f.remove("a")
    assert "a" not in f


@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_with_itself_is_a_copy(kind):
    f = Filter(1000, kind=kind)
    f.update(keys(300))
    for g in (f | f, f & f, f.union(f), f.intersection(f), f.union()):
        assert g == f and g is not f and len(g) == 300
        assert g.count("key-1") == 1 and g.params.layers == f.params.layers and g.params.rate == f.params.rate


def test_copies_and_pickle():
    f = Filter(1000, kind="counting", shared=True, seed=1)      # one of 10 000 seeds finds "new"
    f.update(keys(300))
    for g in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert g == f and len(g) == 300
        g.add("new")
        assert "new" not in f
    assert pickle.loads(pickle.dumps(f)).params.shared


class Named(Filter):
    __slots__ = ("owner",)


def test_pickles_keep_what_a_subclass_adds(tmp_path):
    for f in (Named(100), Named(100, path=str(tmp_path / "f.blm"))):
        f.add("a")
        f.source, f.owner = ["crawl", 7], "ada"
        for g in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
            assert type(g) is Named and vars(g) == {"source": ["crawl", 7]} and g.owner == "ada" and "a" in g


def test_subclasses_keep_their_class():
    class Mine(Filter):
        pass
    assert type(Mine(10).copy()) is Mine
    assert type(pickle.loads(pickle.dumps(Filter(10)))) is Filter


def test_clear_len_bool():
    f = Filter(100, seed=1)
    assert len(f) == 0 and not f
    f.update(range(50))
    assert len(f) >= 49 and f
    f.clear()
    assert len(f) == 0 and 3 not in f


def test_repr_tells_the_essentials():
    f = Filter(1000, 0.001)
    f.add("x")
    assert repr(f) == "<bloomery.Filter blocked, 1 of 1,000 keys, rate 0.001, 1.9 KiB>"
    f.close()
    assert repr(f) == "<bloomery.Filter, closed>"
    with pytest.raises(ValueError, match="closed"):
        "x" in f
    for call in (f.copy, f.clear, lambda: f.update(["x"]), lambda: f.stats, f.to_bytes):
        with pytest.raises(ValueError, match="closed"):
            call()
    f.close()


def test_stats_and_positions():
    f = Filter(1000, kind="classic", seed=3)
    f.add("a")
    s = f.stats
    assert s.ones == len(set(f.positions("a"))) and s.kind == "classic" and s.seed == 3
    assert s.probes == len(f.positions("a"))
    assert all(0 <= p < s.bits for p in f.positions("a"))
    assert sum(f.fill_map(16)) > 0
    with pytest.raises(bloomery.ArgumentError, match="more slices than the filter has cells"):
        f.fill_map(10**6)
    assert len(f.fingerprint()) == 16
    assert f.params.capacity == 1000


def test_scalable_grows():
    f = Filter(kind="scalable", rate=0.01)
    f.update(range(300_000))
    assert all(f.check_many(range(300_000)))
    assert sum(layer.bits for layer in f.layers) == f.params.bits


def test_fold_and_reduce():
    f = Filter(bits=1 << 16, probes=4, kind="classic")
    f.update(keys(500))
    half = f.fold(2)
    assert half.params.bits == 1 << 15 and all(half.check_many(keys(500)))
    with pytest.raises(bloomery.IndivisibleError):
        f.fold(3)
    c = Filter(500, kind="counting")
    c.update(keys(500))
    assert c.reduce().params.bytes * 4 == c.params.bytes


@pytest.mark.parametrize("options, error", [
    (dict(capacity=-1), OverflowError), (dict(capacity=1.5), ValueError),
    (dict(capacity=10, rate=2.0), bloomery.ArgumentError), (dict(capacity=10, kind="clasic"), ValueError),
    (dict(capacity=10, seed=-1), OverflowError), (dict(capacity=10, seed=2**128), OverflowError),
    (dict(capacity=10, hash="md5"), ValueError), (dict(capacity=10, scheme="guaba"), bloomery.Error),
    (dict(capacity=10**15, max_bytes=10**6), bloomery.LimitError),
])
def test_options_out_of_range(options, error):
    with pytest.raises(error):
        Filter(**options)


def test_a_window_forgets():
    f = Filter(1000, kind="window")
    f.update(range(1000))
    assert all(f.check_many(range(1000)))
    f.update(range(1000, 3000))
    assert all(f.check_many(range(2000, 3000))) and f.count_many(range(1000)) < 60
    f = Filter(1000, window=3600)
    assert f.add("a") and not f.add("a") and f.params.kind == "window"
    with pytest.raises(ValueError, match="seconds"):
        Filter(1000, window=0.0001)
    for options in {"window": 600, "kind": "classic"}, {"slack": 0.1}, {"slack": 0.1, "kind": "cuckoo"}:
        with pytest.raises(ValueError, match="for kind 'window'"):
            Filter(1000, **options)


def test_cuckoo_removes_and_may_be_full():
    f = Filter(1000, kind="cuckoo", seed=1)     # one of 30 000 seeds takes two of these keys for one
    f.update(["a", "a", "b"])
    assert f.count("a") == 2 and f.count("b") == 1 and f.count("c") == 0
    f.remove("a")
    assert "a" in f and f.count("a") == 1
    f.remove("a")
    assert "a" not in f
    with pytest.raises(bloomery.FullError):
        f.update(range(2000))


def test_siphash_and_wide_seeds():
    f = Filter(100, hash="siphash", seed=2**127 + 5)
    assert f.params.seed == 2**127 + 5 and f.params.hash == "siphash"
    g = Filter(100, hash="siphash", seed=2**127 + 5)
    f.add("x"), g.add("x")
    assert f == g


def test_calc_is_the_filter():
    plan = bloomery.calc(10_000, 0.001)
    p = Filter(10_000, 0.001).params
    assert (plan.bits, plan.probes, plan.bytes, plan.kind) == (p.bits, p.probes, p.bytes, p.kind)
    assert bloomery.calc(memory=1 << 20, rate=0.01).capacity > 800_000
    with pytest.raises(bloomery.ArgumentError):
        bloomery.calc()
    assert {"blocked", "classic", "counting", "scalable"} <= set(bloomery.kinds())
    assert {"guava", "go", "spark"} <= set(bloomery.formats())
    assert bloomery.schemes()["guava64"]["funnels"]


def test_every_status_has_an_exception():
    import re
    from pathlib import Path
    header = (Path(__file__).resolve().parents[2] / "include/bloomery.h").read_text()
    named = re.findall(r"X\((E_\w+), -\d+", header)
    assert len(named) > 20
    for name in named:
        e = bloomery.errors.make("BLM_" + name, "text", 7, 0)
        assert type(e) is not bloomery.Error, name
        assert (e.status, e.offset, str(e)) == (name, 7, "text")


def test_version():
    assert bloomery.__version__ == "0.1.0"


def test_nobody_counts_what_two_have_in_common():
    f = Filter(10_000, 1e-6, seed=1)
    g = Filter(like=f)
    f.update(range(1000)), g.update(range(900, 1900))
    both = f & g
    assert 100 <= len(both) == round(both.estimate.value) < 300     # neither has more than 1000
    assert both
    for same in (both.copy(), f.intersection(g), both | Filter(like=f), pickle.loads(pickle.dumps(both))):
        assert len(same) == len(both)
    assert len(f) == len(g) == 1000 and len(f | g) == 2000
    f &= g
    assert f == both and len(f) == len(both)
    f.clear()
    assert len(f) == 0 and not f
    f.update(range(50))
    assert len(f) == 50
    one, other = Filter(1000, 1e-6, seed=1), Filter(1000, 1e-6, seed=1)
    one.add("a"), other.add("b")
    none = one & other
    assert none.stats.ones == 0 and len(none) == 0 and not none
    other.add("a")
    assert (one & other) and len(one & other) == 1


def test_trials_are_a_number_of_keys(script):
    """-1 was taken for 2**64-1 trials, which nothing could stop."""
    f = Filter(100)
    for wrong in (2**64, -1, -2**64 - 1):
        if wrong != -1:
            with pytest.raises(OverflowError, match="trials is a whole number"):
                f.try_rate(wrong)
        with pytest.raises(OverflowError, match="seed is a whole number"):
            f.try_rate(10, seed=wrong)
    assert f.try_rate(10, seed=2**64 - 1).trials == 10
    script("""
import signal
from bloomery import Filter
signal.alarm(20)
try:
    Filter(100).try_rate(-1)
except OverflowError:
    raise SystemExit(0)
raise SystemExit(1)
""")


def test_a_refused_intersection_changes_nothing():
    f, g = Filter(1000, kind="classic", seed=1), Filter(1000, kind="classic", seed=2)
    f.update(range(900))
    items = len(f)
    assert f.estimate.value < items - 1         # else nothing would be seen
    for refused in (lambda: f._intersect(g), lambda: f._union(g & g)):
        with pytest.raises(bloomery.MismatchError):
            refused()
        assert len(f) == items


def test_false_means_empty():
    """Nobody counted the keys of another system's file, and of few bits the estimate may be nearer to 0 than to 1."""
    one = Filter(bits=64, probes=10, scheme="guava")
    one.add("16")                               # its ten probes meet in four bits
    read = Filter.from_bytes(one.to_bytes("guava"), "guava")
    assert "16" in read and len(read) == 0 and read
    assert not Filter.from_bytes(Filter(bits=64, probes=10, scheme="guava").to_bytes("guava"), "guava")
