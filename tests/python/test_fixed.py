# SPDX-License-Identifier: MIT
"""bloomery.build: filters made at once from all their keys."""
import pytest

import bloomery


def test_every_key_is_found_and_others_at_the_rate():
    f = bloomery.build(range(5000), rate=0.004, seed=3)
    assert f.params.kind == "static" and len(f) == 5000
    assert all(i in f for i in range(5000))
    others = sum(i in f for i in range(10**6, 10**6 + 100_000))
    assert others == f.count_many(range(10**6, 10**6 + 100_000)) and 200 < others < 600


def test_keys_of_all_types_that_come_twice():
    keys = ["one", b"two", 3, "", b"\0", "one", bytearray(b"four")]
    f = bloomery.build(iter(keys), kind="static")
    assert len(f) == 6 and all(k in f for k in keys)
    assert bloomery.build([]).count_many(range(1000)) == 0


def test_one_text_is_no_list_of_its_characters():
    for text in "abc", b"abc", bytearray(b"abc"):
        with pytest.raises(TypeError, match="many keys"):
            bloomery.build(text)
        with pytest.raises(TypeError, match="many keys"):
            bloomery.build(["a"], text)


def test_no_error_on_either_list():
    f = bloomery.build((f"in {i}" for i in range(3000)), (f"out {i}" for i in range(9000)))
    assert f.params.kind == "cascade" and len(f) == 3000
    assert f.count_many(f"in {i}" for i in range(3000)) == 3000
    assert f.count_many(f"out {i}" for i in range(9000)) == 0


def test_the_smallest_kind_unless_one_is_asked_for():
    assert bloomery.build(range(100_000)).params.kind == "static"
    assert bloomery.build(range(1000), kind="blocked", rate=0.01).params.kind == "blocked"
    one = bloomery.build(range(1000), kind="static", rate=0.01, seed=5)
    assert one == bloomery.build(reversed(range(1000)), kind="static", rate=0.01, seed=5, threads=2)


def test_it_is_saved_and_not_added_to(tmp_path):
    f = bloomery.build(range(1000), rate=0.001)
    f.save(tmp_path / "set.blm")
    with bloomery.Filter.open(tmp_path / "set.blm") as g:
        assert 7 in g and g == f
    with pytest.raises(bloomery.UnsupportedError):
        f.add(5)


def test_what_is_refused():
    with pytest.raises(bloomery.ConflictError):
        bloomery.build(["a", "b"], ["c", "b"])
    with pytest.raises(bloomery.UnsupportedError):
        bloomery.build(["a"], ["b"], kind="static", rate=0.01)
    with pytest.raises(bloomery.ArgumentError):
        bloomery.build(["a"], rate=2)
    with pytest.raises(TypeError):
        bloomery.build([1.5])
    with pytest.raises(TypeError):
        bloomery.build(5)
    with pytest.raises(TypeError):
        bloomery.build(["a"], 5)

    def fails():
        yield "a"
        raise KeyError("gone")
    with pytest.raises(KeyError):
        bloomery.build(fails())


def test_build_hears_signals_between_keys(script):
    """This iterator is written in C and never ends."""
    script("""
import itertools, os, signal, threading
import bloomery
signal.alarm(40)
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    bloomery.build(itertools.repeat(b"k"))
except KeyboardInterrupt:
    os._exit(0)
os._exit(1)
""")
