# SPDX-License-Identifier: MIT
"""Beside RedisBloom. As its master: every item that we acknowledged is there on a replica that grows as it
does. As its replica: the same. And small filters take no more memory than its own (peer.py)."""
import math

import peer
import server
from server import GOLDEN, Server
from test_vectors import chunks_of, keys_of, vectors

import json


def the_model_is_right():
    """Its filters are byte for byte those that RedisBloom made of the same commands."""
    made = 0
    for path in vectors():
        meta = json.loads((path / "meta.json").read_text())
        words = meta["reserve"].split()
        if not words[0][:1].isdigit() or float(words[1]) > 20_000 or len(chunks_of(path)) > 20:
            continue
        expansion = int(words[words.index("EXPANSION") + 1]) if "EXPANSION" in words else 2
        chain = peer.Chain(float(words[0]), int(words[1]), expansion, "NONSCALING" not in words)
        for key in keys_of(path, meta):
            chain.add(key)
        assert chain.chunks() == b"".join(data for _, data in chunks_of(path)), path.name
        made += 1
    assert made >= 5, made


def followed(commands, ask, *arguments):
    """Sends commands to a server with such a replica. Returns the replica's filters, and what `ask` says of
    the items that the master acknowledged."""
    with Server(("repl-diskless-sync", "no"), arguments=arguments) as s:
        replica = peer.Replica(s.port)
        c = s.client()
        for at in range(0, len(commands), 500):
            for words, reply in zip(commands[at:at + 500], c.many(commands[at:at + 500])):
                assert not isinstance(reply, server.Error), (words, reply)
        c("SET", "end", "1")
        replica.follow(b"end")
        ask(c, replica)
        replica.close()


def no_item_is_lost():
    """Our filter calls some new items present, because others have set their bits. They must reach a replica
    whose layers are others. A loose rate, so that there are many. (If only new items are sent on, 16
    of the first are missing there.)"""
    count, few = 120_000, 16_000

    def ask(c, replica):
        for key, items in (("one", ones), ("many", manys), ("insert", inserts)):
            missing = [x for x in items if not replica.filters[key.encode()].has(str(x).encode())]
            assert not missing, (key, len(missing), missing[:5])
            assert c("BF.CARD", key) < len(items)  # so there were such items
        ours, theirs = c("BF.INFO", "one", "FILTERS")[0], len(replica.filters[b"one"].layers)
        assert ours < theirs, (ours, theirs)

    ones, manys, inserts = range(count), range(count, count + few), range(count + few, count + 2 * few)
    commands = [["BF.ADD", "one", x] for x in ones]
    commands += [["BF.MADD", "many", *manys[at:at + 100]] for at in range(0, few, 100)]
    commands += [["BF.INSERT", "insert", "ITEMS", *inserts[at:at + 100]] for at in range(0, few, 100)]
    followed(commands, ask, "bf-error-rate", "0.25")


def also_what_changes_nothing():
    """Adds that change nothing are replicated, and that is all: no event, no change for WATCH."""
    def ask(_, replica):
        adds = [words[1:] for words in replica.seen if words[0].upper() in (b"BF.ADD", b"BF.MADD")]
        for key in (b"auto", b"grows", b"full"):
            assert adds.count([key, b"x"]) == 4, (key, adds)  # BF.INSERT comes as BF.MADD

    commands = [["BF.RESERVE", "grows", "0.01", 100], ["BF.RESERVE", "full", "0.01", 100, "NONSCALING"]]
    for key in ("auto", "grows", "full"):
        commands += [["BF.ADD", key, "x"], ["BF.ADD", key, "x"], ["BF.MADD", key, "x"], ["BF.INSERT", key, "ITEMS", "x"]]
    followed(commands, ask)
    with Server(("notify-keyspace-events", "Kd")) as s:
        c, listener = s.client(), s.client()
        listener("SUBSCRIBE", "__keyspace@0__:auto")
        c("BF.ADD", "auto", "x")
        assert c("WATCH", "auto") == "OK"
        s.client()("BF.ADD", "auto", "x")
        assert c.many([["MULTI"], ["PING"], ["EXEC"]])[2] == ["PONG"]
        s.client()("BF.ADD", "auto", "y")
        events = [listener.read()[2] for _ in range(3)]
        assert events == [b"bf.reserve", b"bf.add", b"bf.add"], events


def where_growth_is_refused():
    """An item that was answered 0 while the filter could not grow is on the replica too."""
    def ask(c, replica):
        for key, items in acknowledged.items():
            missing = [x for x in items if not replica.filters[key].has(x)]
            assert not missing, (key, missing[:5])

    acknowledged = {b"capped": []}
    with Server(("repl-diskless-sync", "no")) as s:
        replica, c = peer.Replica(s.port), s.client()
        (cap,) = c("CONFIG", "GET", "*bf-max-bytes")[::2]
        c("CONFIG", "SET", cap, 20_000)
        c("BF.RESERVE", "capped", "0.01", 100)
        for at in range(0, 40_000, 1000):
            items = [b"%d" % x for x in range(at, at + 1000)]
            acknowledged[b"capped"] += [x for x, a in zip(items, c("BF.MADD", "capped", *items))
                                        if not isinstance(a, server.Error)]
        assert len(acknowledged[b"capped"]) < 40_000
        c("SET", "end", "1")
        replica.follow(b"end")
        ask(c, replica)
        replica.close()


def as_its_replica():
    """RedisBloom replicates every command as it came, also those that changed nothing for it; a filter that
    nobody reserved is then ours. Here its stream comes from a stand-in; the server takes it for its master's."""
    count = 30_000 if server.SLOW else 14_000
    theirs = peer.Chain()
    with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", "no")) as s:
        acknowledged = [b"%d" % x for x in range(count)]
        for x in acknowledged:
            theirs.add(x)
        base = s.directory / "appendonlydir"
        s.stop()
        (increment,) = base.glob("*.incr.aof")
        increment.write_bytes(server.Client.pack("SELECT", 0) + b"".join(
            server.Client.pack("bf.add", "k", x) for x in acknowledged))
        s.start()
        c = s.client()
        for at in range(0, count, 1000):
            assert all(c("BF.MEXISTS", "k", *acknowledged[at:at + 1000]))
        # A filter that it had begun, by its dump, then goes on here, and there again.
        half = peer.Chain()
        for x in acknowledged[:2000]:
            half.add(x)
        whole = half.chunks()
        head = 20 + 53 * len(half.layers)
        c("BF.LOADCHUNK", "half", 1, whole[:head])
        at = head
        for layer in half.layers:
            at += layer.bytes
            c("BF.LOADCHUNK", "half", 1 + at - head, whole[at - layer.bytes:at])
        c("BF.MADD", "half", *acknowledged[2000:6000])
        for x in acknowledged[2000:6000]:
            half.add(x)
        assert b"".join(data for _, data in server.dump(c, "half")) == half.chunks()
        # One of ours, that it goes on with.
        chunks = server.dump(c, "k")
        taken = peer.Chain.of(chunks[0][1], b"".join(data for _, data in chunks[1:]))
        for x in range(count, count + 2000):
            taken.add(b"%d" % x)
        assert all(taken.has(b"%d" % x) for x in range(0, count + 2000, 7))
        assert sum(x.error for x in taken.layers) <= 0.01


def grid(last, per_decade=24):
    """Counts from 1 on, evenly spread by their logarithms, and right before and after RedisBloom grows."""
    counts = {round(10 ** (i / per_decade)) for i in range(int(per_decade * math.log10(last)) + 1)}
    room = 0
    for layer in peer.layers_for(last):
        room += layer.entries
        counts |= {room, room + 1}
    return sorted(x for x in counts if x <= last)


def our_layers(items):
    """As growth.c says: doubling for seven layers, then to four times the capacity."""
    layers, room, first = [], 0, 0.01 * (1 - 2 ** -40) / 2
    entries = 100
    while True:
        i = len(layers)
        error = first / 2 ** i if i < 7 else first / 2 ** 6 / 5 / (1 if i < 11 else 2 ** (i - 10))
        layers.append(peer.Layer(entries, error))
        room += entries
        if items <= room:
            return layers
        entries *= 2 if i + 1 < 7 else 6 if i + 1 == 7 else 4


def sizes():
    """The grid of sizes, on paper: no larger than RedisBloom's up to 10^4 items, at most 3 times as large
    anywhere, 1.15 times in the geometric mean. And that the paper is right: the layers of a real filter."""
    ratios = {}
    for n in grid(10_000_000):
        ours, theirs = (sum(x.bytes for x in layers) for layers in (our_layers(n), peer.layers_for(n)))
        ratios[n] = ours / theirs
    assert all(r <= 1 for n, r in ratios.items() if n <= 10_000)
    assert max(ratios.values()) <= 3
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"  {len(ratios)} sizes: {max(ratios.values()):.2f} times at most, {mean:.3f} in the mean")
    assert mean <= 1.15
    for n in (1000, 10_000, 100_000, 10_000_000):
        assert sum(x.error for x in our_layers(n)) <= 0.01
    total = 10_000_000 if server.SLOW else 300_000
    with Server() as s:
        c = s.client()
        for at in range(0, total, 1000):
            c("BF.MADD", "auto", *range(at, at + 1000))
        lines = [dict(x.split(":") for x in line.decode().split()) for line in c("BF.DEBUG", "auto")[1:]]
        want = our_layers(c("BF.CARD", "auto"))
        assert [(int(x["bytes"]), int(x["capacity"]), int(x["hashes"])) for x in lines] == \
            [(x.bytes, x.entries, x.hashes) for x in want], lines
        assert c("BF.INFO", "auto", "EXPANSION") == [2]


def used(c):
    return int(server.info(c, "memory")["used_memory_dataset"])


def memory():
    """What keys take of used_memory, beside what RedisBloom's would: the model of its value, and the same key,
    dictionary entry and object."""
    with Server() as s:
        c = s.client()
        for n, keys in ((1, 4000), (90, 2000), (101, 2000), (500, 1000), (1500, 300), (5000, 100), (10_000, 40)):
            c("FLUSHALL", "SYNC")
            c.many([["SET", f"k{i:07}", "x" * 40] for i in range(keys)])  # the dictionary has its size now
            text = sum(c.many([["MEMORY", "USAGE", f"k{i:07}"] for i in range(keys)]))
            before = int(server.info(c, "memory")["used_memory"]) - text
            c.many([["DEL", f"k{i:07}"] for i in range(keys)])
            for i in range(keys):
                for at in range(0, n, 1000):
                    c("BF.MADD", f"k{i:07}", *range(at, min(at + 1000, n)))
            ours = (int(server.info(c, "memory")["used_memory"]) - before) / keys
            layers = peer.layers_for(c("BF.CARD", "k0000000"))
            # Beside the value: the entry, the key's text, the object and the module's.
            theirs = peer.value_bytes(layers) + 24 + 16 + 16 + 16
            print(f"  {n} items: {ours:.0f} bytes a key, RedisBloom's {theirs}")
            assert ours <= theirs * (1.3 if n < 100 else 1.02), (n, ours, theirs)
            usage = c("MEMORY", "USAGE", "k0000000")
            assert usage <= theirs * 1.1, (n, usage, theirs)


if __name__ == "__main__":
    server.run([the_model_is_right, no_item_is_lost, also_what_changes_nothing, where_growth_is_refused, as_its_replica,
                sizes, memory])
