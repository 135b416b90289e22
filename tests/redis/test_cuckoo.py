# SPDX-License-Identifier: MIT
"""CF.*: the commands that made RedisBloom's own filters (tests/golden/redisbloom-cf) give the same
replies and the same bytes here; its dumps and chunks load, answer and come back; what must be refused
is refused; replicas and append-only files agree."""
import json
import struct

import server
from server import SOURCE, Error, Server
from test_replication import follow, synced

GOLDEN = SOURCE / "tests" / "golden" / "redisbloom-cf"


def vectors():
    return sorted(p for p in GOLDEN.iterdir() if (p / "commands.txt").exists())


def rows(path):
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


WORDS = {"CAPACITY", "NOCREATE", "ITEMS", "BUCKETSIZE", "MAXITERATIONS", "EXPANSION"}


def command_of(text):
    name, key, *rest = text.split(" ")
    if name == "CF.RESERVE":
        return [name, key, *rest]
    out, items, plain = [name, key], name not in ("CF.INSERT", "CF.INSERTNX"), False
    for word in rest:
        if not items and (word in WORDS or plain):
            out.append(word)
            plain = word == "CAPACITY"
            items = word == "ITEMS"
        else:
            out.append(b"" if word == "-" else bytes.fromhex(word))
    return out


def written(reply):
    if isinstance(reply, Error):
        return f"-{reply}"
    if isinstance(reply, list):
        return "[" + ",".join(str(x) for x in reply) + "]"
    return str(reply)


def ask(c, key, path):
    for item, exists, count, _ in rows(path / "probes.tsv"):
        item = b"" if item == "-" else bytes.fromhex(item)
        assert c("CF.EXISTS", key, item) == int(exists), (path.name, item)
        assert c("CF.COUNT", key, item) == int(count), (path.name, item)
        assert c("CF.MEXISTS", key, item, item) == [int(exists)] * 2


def chunks(path):
    return [(int(sent), int(got), (path / name).read_bytes())
            for sent, got, name, _ in rows(path / "scandump.tsv") if name != "-"]


def same_as(c, key, path):
    info = json.loads((path / "info.json").read_text())
    assert [x if isinstance(x, int) else str(x) for x in c("CF.INFO", key)] == info["CF_INFO"], path.name
    assert c("CF.DEBUG", key).decode() == info["CF_DEBUG"]
    c("CONFIG", "SET", "rdbcompression", "no")
    got, want = c("DUMP", key), (path / "dump.bin").read_bytes()
    assert got[:-10] == want[:-10], path.name  # but for the RDB version and the checksum
    for sent, after, data in chunks(path):
        assert c("CF.SCANDUMP", key, sent) == [after, data], (path.name, sent)
    last = chunks(path)[-1][1] if chunks(path) else 0
    assert c("CF.SCANDUMP", key, last) == [0, None]


def same_commands_same_bytes():
    with Server() as s:
        c = s.client()
        for path in vectors():
            c("DEL", "k")
            for want, text in rows(path / "commands.txt"):
                c.sock.sendall(c.pack(*command_of(text)))
                assert written(c.read()) == want, (path.name, text)
            same_as(c, "k", path)
            ask(c, "k", path)


def loads():
    with Server() as s:
        c = s.client()
        for path in vectors():
            for name in "dump.bin", "dump-lzf.bin":
                c("DEL", "k")
                assert c("RESTORE", "k", 0, (path / name).read_bytes()) == "OK"
                same_as(c, "k", path)
            ask(c, "k", path)
            c("DEL", "k")
            for _, after, data in chunks(path):
                assert c("CF.LOADCHUNK", "k", after, data) == "OK"
            if chunks(path):
                same_as(c, "k", path)
                c("COPY", "k", "copy", "REPLACE")
                same_as(c, "copy", path)
                c("DEBUG", "RELOAD")
                same_as(c, "k", path)


def refusals():
    with Server() as s:
        c = s.client()
        for name, kind, iterator, _, why, want, *_ in rows(GOLDEN / "bad" / "REASONS.tsv"):
            data = (GOLDEN / "bad" / name).read_bytes()
            c("DEL", "k")
            if kind.startswith("chunk"):
                assert c("CF.LOADCHUNK", "k", 1, (GOLDEN / "bad" / "ok-hdr.bin").read_bytes()) == "OK"
                before = c("DUMP", "k")
                got = c.error("CF.LOADCHUNK", "k", iterator, data)
                assert c("DUMP", "k") == before, name
            elif kind == "header":
                got = c.error("CF.LOADCHUNK", "k", iterator, data)
                assert c("EXISTS", "k") == 0, name
            elif kind == "dump":
                got = c.error("RESTORE", "k", 0, data)
                assert c("EXISTS", "k") == 0, name
            else:
                continue
            if kind != "dump":
                assert "-" + got == want, (name, why, got, want)
        assert s.process.poll() is None


def replies():
    with Server() as s:
        c, three = s.client(), s.client(protocol=3)
        for words, want in (
                (("CF.RESERVE", "k", "x"), "Bad capacity"),
                (("CF.RESERVE", "k", 100, "BUCKETSIZE", 0), "BUCKETSIZE: value must be in the range [1, 255]"),
                (("CF.RESERVE", "k", 100, "EXPANSION", "x"), "Couldn't parse EXPANSION"),
                (("CF.RESERVE", "k", 3), "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
                (("CF.DEL", "k", "a"), "Not found"),
                (("CF.COMPACT", "k"), "Cuckoo filter was not found"),
                (("CF.INFO", "k"), "ERR not found"),
                (("CF.SCANDUMP", "k", -1), "Invalid position"),
                (("CF.LOADCHUNK", "k", 0, "x"), "Invalid position"),
                (("CF.LOADCHUNK", "k", 5, "x"), "ERR not found"),
                (("CF.INSERT", "k", "NOCREATE", "ITEMS", "a"), "ERR not found"),
                (("CF.INSERT", "k", "WHAT", 5, "ITEMS", "a"), "Unknown argument received")):
            assert c.error(*words) == want, words
        for words in (("CF.RESERVE", "k", 100, "JUNK", 5, "EXPANSION"), ("CF.RESERVE", "k", 100, "EXPANSION"),
                      ("CF.RESERVE", "EXPANSION"), ("CF.INSERT", "k", "ITEMS"), ("CF.INSERT", "k", "a", "ITEMS")):
            assert "wrong number of arguments" in c.error(*words) or "nknown" in c.error(*words), words
        assert c("CF.EXISTS", "k", "a") == 0 and c("CF.COUNT", "k", "a") == 0
        c("SET", "text", "x")
        assert "WRONGTYPE" in c.error("CF.ADD", "text", "a") and c("CF.EXISTS", "text", "a") == 0
        assert three("CF.ADD", "k", "a") is True and three("CF.ADDNX", "k", "a") is False
        assert three("CF.EXISTS", "k", "a") is True and three("CF.COUNT", "k", "a") == 1
        assert three("CF.RESERVE", "e", 4, "EXPANSION", 0) == "OK"
        assert c("CF.INSERT", "e", "ITEMS", 1, 2, 3, 4, 5, 6) == [1, 1, 1, 1, -1, -1]
        assert three("CF.INSERT", "e", "ITEMS", 5) == [False] and three("CF.INSERTNX", "e", "ITEMS", 1, 6) == [0, -1]
        assert c.error("CF.ADD", "e", 5) == "Filter is full"
        assert three("CF.INFO", "e")["Bucket size"] == 2
        assert "ERR item exists" == c.error("CF.RESERVE", "e", 100)
        assert c("TYPE", "e") == "MBbloomCF"


def both_protocols():
    """Every command in RESP2 and RESP3: numbers there, booleans and a map here."""
    with Server() as s:
        two, three = s.client(), s.client(protocol=3)
        for words, old, new in (
                (("CF.RESERVE", "k", 100), "'OK'", "'OK'"),
                (("CF.ADD", "k", "a"), "1", "True"),
                (("CF.ADDNX", "k", "a"), "0", "False"),
                (("CF.ADDNX", "k", "b"), "1", "True"),
                (("CF.INSERT", "k", "ITEMS", "c", "a"), "[1, 1]", "[True, True]"),
                (("CF.INSERTNX", "k", "ITEMS", "d", "a"), "[1, 0]", "[1, 0]"),
                (("CF.EXISTS", "k", "a"), "1", "True"),
                (("CF.EXISTS", "k", "no"), "0", "False"),
                (("CF.EXISTS", "none", "a"), "0", "False"),
                (("CF.MEXISTS", "k", "a", "no"), "[1, 0]", "[True, False]"),
                (("CF.MEXISTS", "none", "a"), "[0]", "[False]"),
                (("CF.COUNT", "k", "a"), "2", "2"),
                (("CF.DEL", "k", "a"), "1", "True"),
                (("CF.DEL", "k", "no"), "0", "False"),
                (("CF.COMPACT", "k"), "'OK'", "'OK'"),
                (("CF.SCANDUMP", "k", 0), None, None),
                (("CF.SCANDUMP", "k", 1), None, None),
                (("CF.SCANDUMP", "k", 5000), "[0, None]", "[0, None]"),
                (("CF.DEBUG", "k"), None, None),
                (("CF.INFO", "k"), None, None)):
            got = {}
            for c, want in (two, old), (three, new):
                c("DEL", "k")
                if words[:2] != ("CF.RESERVE", "k"):
                    c("CF.INSERT", "k", "ITEMS", "a", "c")
                    c("CF.DEL", "k", "c")
                    if words[0] == "CF.COUNT":
                        c("CF.ADD", "k", "a")
                got[c] = c(*words)
                assert want is None or repr(got[c]) == want, (words, got[c], want)
            if words[0] == "CF.INFO":
                assert isinstance(got[three], dict) and isinstance(got[two], list)
                assert dict(zip(*[iter(got[two])] * 2)) == got[three]
            elif old is None:
                assert got[two] == got[three] and type(got[two]) is type(got[three]), words
        header = two("CF.SCANDUMP", "k", 0)[1]
        for c, key in (two, "l2"), (three, "l3"):
            assert c("CF.LOADCHUNK", key, 1, header) == "OK"


def dumped_while_others_add():
    """What was there when the dump began is in it: an add moves fingerprints, but not between layers, and
    a layer of this size is one chunk. A layer that came after the header has no place in the copy."""
    with Server() as s:
        c, other = s.client(), s.client()
        c("CF.RESERVE", "k", 64, "EXPANSION", 1)
        there = [str(i) for i in range(500)]
        c("CF.INSERT", "k", "ITEMS", *there)
        layers = dict(zip(*[iter(c("CF.INFO", "k"))] * 2))["Number of filters"]
        assert layers > 4, layers
        at, later, refused = 0, 0, 0
        while True:
            at, data = c("CF.SCANDUMP", "k", at)
            if at == 0:
                break
            try:
                assert c("CF.LOADCHUNK", "copy", at, data) == "OK"
            except Error as e:
                assert str(e) == "Couldn't load chunk!", e
                refused += 1
            if later < 40:  # some fill the newest layer, some make more layers
                assert other("CF.ADD", "k", f"later-{later}") == 1
                assert other("CF.DEL", "k", f"later-{later}") == 1
                other("CF.INSERT", "k", "ITEMS", *(f"later-{later}-{i}" for i in range(5)))
                later += 1
        now = dict(zip(*[iter(c("CF.INFO", "k"))] * 2))["Number of filters"]
        assert now > layers and refused == now - layers, (layers, now, refused)
        assert dict(zip(*[iter(c("CF.INFO", "copy"))] * 2))["Number of filters"] == layers
        assert c("CF.MEXISTS", "copy", *there) == [1] * len(there)
        for item in there:  # and its slots are its own
            assert c("CF.DEL", "copy", item) == 1


def called(c, name):
    """What this server calls a config."""
    return f"bf.{name}" if c("CONFIG", "GET", f"bf.{name}") else name


def config(c, name, value):
    c("CONFIG", "SET", called(c, name), value)


def coupled_configs():
    """cf-bucket-size is at most half of cf-initial-size, whichever is set, and however."""
    with Server() as s:
        c = s.client()
        size, bucket = called(c, "cf-initial-size"), called(c, "cf-bucket-size")

        def now():
            return [int(c("CONFIG", "GET", name)[1]) for name in (size, bucket)]

        c("CONFIG", "SET", size, 4)
        for value in 3, 200:
            assert "`cf-bucket-size` must be in the range [1, 2]" in c.error("CONFIG", "SET", bucket, value)
            assert now() == [4, 2]
        for value in 2, 3:
            assert "`cf-initial-size` must be in the range [4, 1073741824]" in c.error("CONFIG", "SET", size, value)
            assert now() == [4, 2]
        for first, second in ((size, 400), (bucket, 200)), ((bucket, 1), (size, 2)), ((bucket, 255), (size, 510)):
            assert c("CONFIG", "SET", *first, *second) == "OK"
            assert {size: now()[0], bucket: now()[1]} == dict((first, second))
        assert "range [1, 4]" in c.error("CONFIG", "SET", bucket, 5, size, 8)
        assert now() == [510, 255], "a refused command changes neither"
        assert c("CF.ADD", "k", "a") == 1 and b"bktsize:255 buckets:2 " in c("CF.DEBUG", "k")
        c("CONFIG", "SET", size, 4, bucket, 2)  # of filters to come: others load and are reserved as ever
        c("DEBUG", "RELOAD")
        assert b"bktsize:255 buckets:2 " in c("CF.DEBUG", "k") and c("CF.RESERVE", "r", 400, "BUCKETSIZE", 200) == "OK"
    for arguments in ("cf-initial-size", 8, "cf-bucket-size", 5), ("cf-bucket-size", 255, "cf-initial-size", 509):
        try:
            with Server(arguments=map(str, arguments)):
                raise SystemExit(f"{arguments}: loaded")
        except AssertionError as e:
            assert "more than half of cf-initial-size" in str(e), e
    with Server(arguments=["cf-bucket-size", "255", "cf-initial-size", "510"]) as s:
        assert s.client()("CF.ADD", "k", "a") == 1


def whatever_the_configs():
    """What the master has done is done, on a replica and from the append-only file, by whatever configs they
    have: no capacity is judged again, and no key is taken for an option."""
    with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", "no")) as master, Server() as replica:
        c = master.client()
        r = follow(replica, master)
        config(c, "cf-bucket-size", 1)
        names = ["made", "there", "nx", "expansion", "MAXITERATIONS", "bucketsize"]
        c("CF.RESERVE", "there", 100)
        for name in "made", "there":
            assert c("CF.INSERT", name, "CAPACITY", 3, "ITEMS", "a", "b") == [1, 1]  # 3 is less than 2 * 2
        assert c("CF.INSERTNX", "nx", "CAPACITY", 2, "ITEMS", "a", "b", "a") == [1, 1, 0]
        for name in names[3:]:
            assert c("CF.ADD", name, "a") == 1 and c("CF.ADDNX", name, "b") == 1
        synced(c, r)
        want = {name: c("DUMP", name) for name in names}
        assert {name: r("DUMP", name) for name in names} == want
        c = master.restart()
        assert {name: c("DUMP", name) for name in names} == want
        for name in names:
            assert c("CF.MEXISTS", name, "a", "b") == r("CF.MEXISTS", name, "a", "b") == [1, 1]


def commands_of_redisbloom():
    """RedisBloom's append-only file has commands as clients sent them. What it accepted there is not refused
    here, with configs that are not its own."""
    with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", "no")) as s:
        c = s.client()
        c("CF.INSERT", "k", "ITEMS", "seen")
        s.kill()
        file = next((s.directory / "appendonlydir").glob("*.incr.aof"))
        with open(file, "ab") as f:
            f.write(c.pack("cf.insert", "k", "CAPACITY", 2, "ITEMS", "a", "b"))
            f.write(c.pack("cf.insert", "small", "CAPACITY", 2, "ITEMS", "a", "b"))
            f.write(c.pack("cf.insertnx", "least", "CAPACITY", -5, "ITEMS", "a", "b"))
        s.start()
        c = s.client()
        assert c("CF.MEXISTS", "k", "seen", "a", "b") == [1, 1, 1]
        for name in "small", "least":
            assert c("CF.MEXISTS", name, "a", "b") == [1, 1]
            assert dict(zip(*[iter(c("CF.INFO", name))] * 2))["Number of buckets"] == 2
        assert "range" in c.error("CF.INSERT", "k", "CAPACITY", 2, "ITEMS", "a")


def copies_agree():
    with Server() as master, Server() as replica:
        c, r = master.client(), replica.client()
        config(r, "cf-bucket-size", 4)
        r("REPLICAOF", "127.0.0.1", master.port)
        server.until("the replica follows", lambda: "master_link_status:up" in r("INFO", "replication").decode())
        for i in range(2000):
            c("CF.ADD", "auto", i)
        for i in range(0, 2000, 3):
            c("CF.DEL", "auto", i)
        c("CF.COMPACT", "auto")
        c("CF.RESERVE", "named", 64, "EXPANSION", 2)
        c("CF.INSERT", "named", "ITEMS", *range(500))
        assert c("WAIT", 1, 10000) == 1
        for key in "auto", "named":
            assert c("DUMP", key) == r("DUMP", key), key
    with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", "no")) as s:
        c = s.client()
        for i in range(3000):
            c("CF.ADD", "auto", i)
        c("CF.RESERVE", "empty", 64)
        want = [c("DUMP", k) for k in ("auto", "empty")]
        c("BGREWRITEAOF")
        server.until("it is rewritten",
                     lambda: "aof_rewrite_in_progress:0" in c("INFO", "persistence").decode())
        s.restart()
        c = s.client()
        assert [c("DUMP", k) for k in ("auto", "empty")] == want


def grows_so_far():
    """One CF.INSERT goes past cf-max-expansions, but not without end: then it is as where there is no memory,
    and replicas, which judge nothing again, have what the master has."""
    with Server() as master, Server() as replica:
        c = master.client()
        r = follow(replica, master)
        for name, most, layers in ("k", 32, 1024), ("more", 1030, 1030):
            config(c, "cf-max-expansions", most)
            c("CF.RESERVE", name, 4)
            items = list(range(4400))
            got = c("CF.INSERT", name, "ITEMS", *items)
            info = dict(zip(*[iter(c("CF.INFO", name))] * 2))
            assert info["Number of filters"] == layers
            assert info["Number of items inserted"] == got.count(1) <= 4 * layers
            assert set(got) == {1, -1} and got.index(-1) > 4 * layers - 200
            assert c("CF.MEXISTS", name, *(i for i, g in zip(items, got) if g == 1)) == [1] * got.count(1)
            for words in ("CF.ADD", name, "x"), ("CF.INSERT", name, "ITEMS", 1):
                assert c.error(*words) == "Maximum expansions reached"
            synced(c, r)
            assert r("DUMP", name) == c("DUMP", name)
        r("REPLICAOF", "NO", "ONE")  # the bound was the command's: with more expansions it goes on
        config(r, "cf-max-expansions", 2000)
        assert set(r("CF.INSERT", "k", "ITEMS", *range(5000, 5100))) == {1}


def tens_of_thousands_of_layers():
    """A header of 38 bytes can ask for 65535 layers. Nothing takes time that grows with their square: that would
    be minutes."""
    with Server() as s:
        c = s.client()
        number, layers = lambda v: b"\x02\x81" + v.to_bytes(8, "big"), 65535
        header = struct.pack("<QQQQHHH", 0, 2, 0, layers, 1, 20, 1)
        assert c("CF.LOADCHUNK", "empty", 1, header) == "OK"
        value = [(GOLDEN / "compact" / "dump.bin").read_bytes()[:10], *map(number, (layers, 2, layers, 0, 1, 20, 1))]
        value += [number(2) + b"\x05\x81" + (2).to_bytes(8, "big") + b"\x02\0"] * layers + [b"\0"]
        assert c("RESTORE", "k", 0, server.payload_of(b"".join(value))) == "OK"
        assert c("COPY", "k", "copy") == 1 and server.digest(c, "k") == server.digest(c, "copy")
        for name, left in ("k", layers), ("empty", 1):  # 2 never goes to the second bucket
            assert c("CF.COMPACT", name) == "OK"
            assert dict(zip(*[iter(c("CF.INFO", name))] * 2))["Number of filters"] == left
        assert server.digest(c, "k") == server.digest(c, "copy")
        c("DEBUG", "RELOAD")
        assert server.digest(c, "k") == server.digest(c, "copy")


def native_full():
    """KIND cuckoo may have no place for an item before it is full: BF.MADD ends there, as for any other
    filter that does not scale, and what comes after is not in the answer."""
    full = "ERR non scaling filter is full"
    with Server() as master, Server() as replica:
        c = master.client()
        r = follow(replica, master)
        # With a seed: some 2e-4 of all take two of these items for one, or put another into both buckets of "a".
        c("BF.RESERVE", "k", "0.01", 1000, "KIND", "cuckoo", "SEED", 1)
        assert c("BF.MADD", "k", *["a"] * 8) == [1] + [0] * 7  # both its buckets
        assert c.error("BF.ADD", "k", "a") == full
        for words in ("BF.MADD", "k"), ("BF.INSERT", "k", "ITEMS"):
            got = c(*words, f"b{words[0]}", "a", "c", "d")
            assert got[0] == 1 and str(got[1]) == full and len(got) == 2, got
            assert [str(x) for x in c(*words, "a", "c")] == [full]
        assert c("BF.MADD", "k", "c", "d") == [1, 1] and c("BF.CARD", "k") == 12
        c("BF.RESERVE", "small", "0.01", 4, "KIND", "cuckoo", "SEED", 1)
        got = c("BF.MADD", "small", *range(10))
        assert str(got[-1]) == full and len(got) == c("BF.CARD", "small") + 1, got
        synced(c, r)
        assert server.dump(c, "k") == server.dump(r, "k") and server.dump(c, "small") == server.dump(r, "small")


def native_copies_agree():
    """KIND cuckoo: the same on a replica, from a rewritten append-only file, an RDB file and a COPY."""
    with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", "no")) as master, Server() as replica:
        c = master.client()
        r = follow(replica, master)
        c("BF.RESERVE", "n", "0.01", 2000, "KIND", "cuckoo")
        c("BF.RESERVE", "full", "0.001", 50, "KIND", "cuckoo")
        for i in range(0, 2000, 40):
            c("BF.MADD", "n", *range(i, i + 40), i)
            c("BF.DEL", "n", i)
            c.many([["BF.MADD", "full", *range(i, i + 10)]])  # more than there is room for
        c("COPY", "n", "copied")
        synced(c, r)
        names = ["n", "full", "copied"]
        want = {k: server.dump(c, k) for k in names}
        assert {k: server.dump(r, k) for k in names} == want
        assert want["copied"] == want["n"]
        c("BGREWRITEAOF")
        server.until("it is rewritten", lambda: server.info(c, "persistence")["aof_rewrite_in_progress"] == "0")
        c("BF.ADD", "n", "after the rewrite")
        want["n"] = server.dump(c, "n")
        master.restart()
        c = master.client()
        assert {k: server.dump(c, k) for k in names} == want
        c("DEBUG", "RELOAD")
        assert {k: server.dump(c, k) for k in names} == want
        assert c("BF.EXISTS", "n", "after the rewrite") == 1 and c("BF.DEL", "n", 41)


if __name__ == "__main__":
    server.run([same_commands_same_bytes, loads, refusals, replies, both_protocols, dumped_while_others_add,
                coupled_configs, whatever_the_configs, commands_of_redisbloom, copies_agree, grows_so_far,
                tens_of_thousands_of_layers, native_full, native_copies_agree])
