# SPDX-License-Identifier: MIT
"""Scrapy's visited set over a real Redis Cluster: the command line and Python find the same shards, exactly one
of many spiders is told "new", and adds follow a slot that moves and a master that dies."""
import hashlib
import random
import signal
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("scrapy")
import bloomery  # noqa: E402
from bloomery import cluster as shards  # noqa: E402
from bloomery import scrapy as ours  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "redis"))
WAIT = "timeout=300"                    # for anything that will happen


def prints(start, count):
    return [hashlib.sha1(b"%d" % i).digest() for i in range(start, start + count)]


def made(url, **settings):
    from scrapy.settings import Settings
    return ours.DupeFilter.from_settings(Settings({"BLOOMERY_REDIS_URL": url, "BLOOMERY_CAPACITY": 20_000, **settings}), spider="shop")


@pytest.fixture(scope="module")
def nodes():
    import server
    from cluster import Cluster
    if not Path(server.MODULE).exists():
        pytest.skip("the Redis module is not built")
    with Cluster(server.REDIS) as k:
        yield k


@pytest.fixture
def url(nodes):
    """Of two nodes: the first is no more than one that does not answer."""
    return lambda key, query="": f"redis+cluster://127.0.0.1:1,127.0.0.1:{nodes.nodes[1].port}/{key}?{WAIT}{query}"


def test_urls():
    u = shards.Url("redis+cluster://me:p%40ss@a:7000,[::1]:7001,c/dir/a%3Fb?shards=7&timeout=2.5")
    assert u.nodes == [("a", 7000), ("::1", 7001), ("c", 6379)] and (u.user, u.password) == ("me", "p@ss")
    assert (u.key, u.shards, u.timeout) == (b"dir/a?b", 7, 2.5)
    for bad in ("redis://a/b", "redis+cluster://a:x/b", "redis+cluster://a/b?shards=0", "redis+cluster://a/b?timeout=no",
                "redis+cluster://a/b?other=1"):
        with pytest.raises(bloomery.ArgumentError, match="write redis"):
            shards.Url(bad)


def test_the_rules_are_the_documented_ones():
    import test_shards as documented
    s = shards.Shards(b"a{b}c", 12, 0x0f0e0d0c0b0a09080706050403020100, 0x9f3c2a10, 1000, 0.01)
    keys, seed = documented.shard_keys(b"a{b}c", bytes(s))
    assert keys == s.keys
    for key in (b"", b"a", b"https://example.com/", bytes(range(20)), b"x" * 1000):
        assert s.of(key) == keys[documented.siphash24(seed, key) * 12 >> 64]
    again = shards.Shards.read(b"a{b}c", bytes(s))
    assert (again.keys, again.seed, again.items, again.rate) == (s.keys, s.seed, s.items, s.rate)
    for bad, error in ((b"", "Unsupported"), (b"bloomery-shards 2 x", "Version"), (bytes(s).replace(b"shards=12", b"shards=0"), "Unsupported"),
                       (bytes(s).replace(b"siphash24", b"other"), "Version")):
        with pytest.raises(getattr(bloomery, error + "Error")):
            shards.Shards.read(b"a", bad)


def test_made_here_found_by_the_command_line(nodes, url, cli, tmp_path):
    d = made(url("here", "&shards=12"))
    keys = prints(0, 3000)
    assert all(d.store.add(k) for k in keys) and not any(d.store.add(k) for k in keys)
    # Fingerprints are bytes; lines of hexadecimal are what the command line reads with -e hex.
    lines = b"".join(k.hex().encode() + b"\n" for k in keys)
    assert cli("check", "-c", "-e", "hex", url("here"), stdin=lines) == b"3000\n"
    out = cli("info", url("here"))
    assert b"in 12 shards" in out, out
    sizes = [nodes.call("BF.CARD", k) for k in d.store.filter.shards.keys]
    assert sum(sizes) == 3000 and min(sizes) > 150
    more = prints(3000, 500)
    cli("add", "-e", "hex", url("here"), stdin=b"".join(k.hex().encode() + b"\n" for k in more))
    assert not any(d.store.add(k) for k in more)
    assert d.store.figures()[0] == 3500
    d.close("finished")


@pytest.mark.parametrize("options", [(), ("--kind", "scalable"), ("--scheme", "redisbloom")], ids=lambda o: o[-1] if o else "blocked")
def test_made_by_the_command_line_found_here(nodes, url, cli, options):
    key = "there" + (options[-1] if options else "")
    cli("create", url(key, "&shards=5"), "-n", "20000", "-p", "1e-6", *options)
    keys = prints(0, 1000)
    cli("add", "-e", "hex", url(key), stdin=b"".join(k.hex().encode() + b"\n" for k in keys[:500]))
    d = made(url(key))
    assert [d.store.add(k) for k in keys] == [False] * 500 + [True] * 500
    assert 0 < d.store.figures()[2] <= 1.000001e-6      # those that grow have not come to their last layer
    assert cli("check", "-c", "-e", "hex", url(key), stdin=b"".join(k.hex().encode() + b"\n" for k in keys)) == b"1000\n"
    with pytest.raises(bloomery.MismatchError, match="has 5 shards, not 6"):
        made(url(key, "&shards=6"))


def test_more_than_it_was_made_for(nodes, url, cli, caplog):
    cli("create", url("small", "&shards=2"), "-n", "100", "-p", "1e-6")
    d = made(url("small"))
    keys = prints(0, 2000)
    wrong = sum(not d.store.add(k) for k in keys)
    assert wrong > 500 and [r.message.partition(" is ")[2].partition(":")[0] for r in caplog.records] == ["full"]
    items, _, rate = d.store.figures()
    assert items == 2000 - wrong and wrong / 2000 < rate < 1
    assert "small is overfilled" in caplog.text
    d.clear()                               # what takes its place grows
    assert sum(not d.store.add(k) for k in keys) == 0 and 0 < d.store.figures()[2] <= 1e-6
    assert len(caplog.records) == 2
    d.close("finished")


def test_what_is_no_filter(nodes, url):
    nodes.call("SET", "word", "hello")
    with pytest.raises(bloomery.UnsupportedError, match="does not describe"):
        made(url("word"))
    with pytest.raises(bloomery.ArgumentError, match="write redis"):
        made("redis+cluster://127.0.0.1/x?shards=no")


def test_many_make_it_at_once_and_exactly_one_is_told_new(nodes, url):
    keys, told, lock = prints(0, 600), [], threading.Lock()
    start = threading.Barrier(6)

    def spider(n):
        mine = keys[:]
        random.Random(n).shuffle(mine)
        start.wait()
        d = made(url("many", "&shards=9"))
        new = [k for k in mine if d.store.add(k)]
        d.close()
        with lock:
            told.extend(new)
    threads = [threading.Thread(target=spider, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(told) == sorted(keys)
    # Who came second has taken its shards back.
    left = [k for n in nodes.nodes[:3] for k in n.client()("KEYS", "*many.*")]
    assert len(left) == 9


def test_the_key_may_be_the_spiders(nodes):
    d = made(f"redis+cluster://127.0.0.1:{nodes.nodes[2].port}")
    assert d.store.filter.key == b"shop:seen" and d.store.filter.shards.count == 16
    d.close()


def test_cleared_by_one_seen_by_the_other(nodes, url):
    one, two = made(url("cleared", "&shards=4")), made(url("cleared"))
    assert one.store.add(b"a") and not two.store.add(b"a")
    one.clear()
    assert two.store.add(b"a") and not one.store.add(b"a")
    assert len([k for n in nodes.nodes[:3] for k in n.client()("KEYS", "*cleared.*")]) == 4
    nodes.call("DEL", "cleared")
    for shard in one.store.filter.shards.keys:
        nodes.call("DEL", shard)
    import redis
    with pytest.raises(redis.ResponseError, match="not found"):
        one.store.add(b"b")                 # gone: an error, and no small filter in its place


def test_import_into_a_cluster(nodes, url, capsys, tmp_path):
    import redis as client
    import server
    with server.Server() as s:
        r = client.Redis(port=s.port)
        r.sadd("shop:dupefilter", *[k.hex() for k in prints(0, 5000)])
        args = ["import", f"redis://127.0.0.1:{s.port}/0", "shop:dupefilter", "--to", url("taken", "&shards=3"), "--state", str(tmp_path / "state")]
        assert ours.main(args) == 0
    assert "5,000 fingerprints taken, 5,000 in the filter" in capsys.readouterr().out
    d = made(url("taken"))
    assert not any(d.store.add(k) for k in prints(0, 5000))


def test_a_slot_moves(nodes, url):
    d = made(url("moves", "&shards=7"))       # slots that no other test has
    other = d.store.filter.shards.keys[0]
    slot = shards.slot_of(other)
    assert slot == nodes.slot(other)
    mine = [k for k in prints(0, 1000) if d.store.filter.shards.of(k) == other]
    assert all(d.store.add(k) for k in mine[:20])
    source, target = nodes.nodes[0].client(), nodes.nodes[1].client()
    target("CLUSTER", "SETSLOT", slot, "IMPORTING", nodes.ids[0])
    source("CLUSTER", "SETSLOT", slot, "MIGRATING", nodes.ids[1])
    source("MIGRATE", "127.0.0.1", nodes.nodes[1].port, other, 0, 60000)
    # The slot is still the source's, and the key is not there: ASK.
    assert [d.store.add(k) for k in mine[:40]] == [False] * 20 + [True] * 20
    for c in (target, source, nodes.nodes[2].client()):
        c("CLUSTER", "SETSLOT", slot, "NODE", nodes.ids[1])
    assert [d.store.add(k) for k in mine[:60]] == [False] * 40 + [True] * 20    # MOVED
    assert nodes.nodes[1].client()("EXISTS", other) == 1
    d.close()


def test_a_lost_answer_counts_as_new(nodes, url, monkeypatch):
    """The connection breaks after the add: it is sent again, found, and nobody knows: new, here and only here."""
    import redis
    one, two = made(url("lost", "&shards=3")), made(url("lost"))
    real, broken = redis.Redis.execute_command, []

    def once(self, *words, **more):
        reply = real(self, *words, **more)
        if words[0] == "BF.INSERT" and not broken:
            broken.append(words)
            raise redis.ConnectionError("the answer is lost")
        return reply
    monkeypatch.setattr(redis.Redis, "execute_command", once)
    assert one.store.add(b"page") and one.store.lost == 1
    assert not two.store.add(b"page") and not one.store.add(b"page")


def test_a_master_dies(nodes, url):
    """Last: the cluster is not the same afterwards."""
    d = made(url("dies", "&shards=6"))
    keys = prints(0, 300)
    assert all(d.store.add(k) for k in keys)
    victim = 2
    c = nodes.nodes[victim].client()
    c("SET", "{%s}x" % next(str(n) for n in range(10**6) if 10923 <= shards.crc16(b"%d" % n) % 16384), "1")
    assert c("WAIT", 1, 0) == 1         # the replica has all of them
    nodes.nodes[victim].kill(signal.SIGKILL)
    # Of the one add that was on its way when the connection broke nobody knows; the others wait for the failover.
    new = sum(d.store.add(k) for k in keys)
    assert new == d.store.lost <= 1
    assert all(d.store.add(k) for k in prints(300, 100))
    assert d.store.lost == new
    d.close()
