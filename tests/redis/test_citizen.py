# SPDX-License-Identifier: MIT
"""What a module owes its server: COPY, MEMORY USAGE, DEBUG DIGEST, defragmentation, lazy freeing,
notifications, ACLs, COMMAND INFO and DOCS, its INFO section, its configs, maxmemory, its cap."""
import server
from server import Error, Server

COMMANDS = {"bf.reserve": -4, "bf.add": 3, "bf.madd": -3, "bf.insert": -4, "bf.exists": 3, "bf.mexists": -3,
            "bf.info": -2, "bf.card": 2, "bf.debug": 2, "bf.scandump": 3, "bf.loadchunk": 4,
            "bf.del": -3, "bf.merge": -3,
            "cf.reserve": -3, "cf.add": 3, "cf.addnx": 3, "cf.insert": -4, "cf.insertnx": -4, "cf.exists": 3,
            "cf.mexists": -3, "cf.count": 3, "cf.del": 3, "cf.compact": 2, "cf.info": 2, "cf.debug": 2,
            "cf.scandump": 3, "cf.loadchunk": 4}
READS = {"bf.exists", "bf.mexists", "bf.info", "bf.card", "bf.debug", "bf.scandump", "bf.estimate",
         "cf.exists", "cf.mexists", "cf.count", "cf.info", "cf.debug", "cf.scandump"}
FREES = {"bf.del", "cf.del", "cf.compact"}  # need no memory


def config_name(c, name):
    return c("CONFIG", "GET", "*" + name)[0].decode()


def copies_and_memory(binary):
    with Server(binary=binary) as s:
        c = s.client()
        c("BF.RESERVE", "k", "0.01", "1000")
        for kind in ((), *(("KIND", k, "SEED", "1") for k in ("classic", "counting", "cuckoo", "window")),
                     ("WINDOW", "600", "SEED", "1")):
            key = "c" + "".join(kind[1:2])
            c("BF.RESERVE", key, "0.01", "1000", *kind)
            c("BF.MADD", key, *range(100))
            assert c("COPY", key, key + "2") == 1
            assert server.digest(c, key) == server.digest(c, key + "2")
            c("BF.ADD", key + "2", "only here")  # a copy of its own
            assert server.digest(c, key) != server.digest(c, key + "2")
            assert c("BF.EXISTS", key, "only here") == 0
            assert c("COPY", key, key + "2") == 0 and c("COPY", key, key + "2", "REPLACE") == 1
            assert c("COPY", key, key, "DB", 1) == 1
        for i in range(100):
            c("CF.ADD", "cf", i)
        assert c("COPY", "cf", "cf2") == 1 and server.digest(c, "cf") == server.digest(c, "cf2")
        c("CF.ADD", "cf2", "only here")
        assert server.digest(c, "cf") != server.digest(c, "cf2") and c("CF.EXISTS", "cf", "only here") == 0
        assert c("COPY", "cf", "cf2") == 0 and c("COPY", "cf", "cf2", "REPLACE") == 1
        assert c("COPY", "cf", "cf", "DB", 1) == 1 and c("CF.COUNT", "cf2", "only here") == 0
        size = dict(zip(*[iter(c("CF.INFO", "cf"))] * 2))["Size"] // 8  # it counts bits
        assert size < c("MEMORY", "USAGE", "cf") < size + 2500, (size, c("MEMORY", "USAGE", "cf"))
        assert c("BF.INFO", "k", "SIZE") == [1480]
        # Valkey 8.1 answers with our own figure; others add what the key takes.
        assert 1480 <= c("MEMORY", "USAGE", "k") < 1480 + 1024, c("MEMORY", "USAGE", "k")
        # Equal content by another way: equal digests. One bit more: not.
        c("BF.RESERVE", "x", "0.01", "100")
        c("BF.RESERVE", "y", "0.01", "100")
        c("BF.MADD", "x", "a", "b")
        c("BF.ADD", "y", "b")
        assert server.digest(c, "x") != server.digest(c, "y")
        # Freed in the background, as one would a large thing, and the memory comes back.
        used = int(server.info(c, "memory")["used_memory"])
        c("BF.RESERVE", "large", "0.001", "20000000")
        c("BF.RESERVE", "large2", "0.001", "20000000", "KIND", "blocked")
        assert int(server.info(c, "memory")["used_memory"]) > used + 50_000_000
        freed = int(server.info(c, "memory").get("lazyfreed_objects", 0))
        c("UNLINK", "large", "large2")
        server.until("lazy free", lambda: int(server.info(c, "memory")["lazyfree_pending_objects"]) == 0)
        assert int(server.info(c, "memory")["used_memory"]) < used + 5_000_000
        assert int(server.info(c, "memory")["lazyfreed_objects"]) >= freed + 1


def defragmentation(binary):
    """Where the server's allocator can: filters are moved and stay what they are."""
    with Server(binary=binary) as s:
        c = s.client()
        try:
            c("CONFIG", "SET", "activedefrag", "yes")
        except Error as e:
            assert "fragmentation" in str(e), e
            print(f"skipped: active defragmentation, this server says: {e}")
            return
        for name, value in [("active-defrag-ignore-bytes", "1"), ("active-defrag-threshold-lower", "0"),
                            ("active-defrag-cycle-min", "60"), ("active-defrag-cycle-max", "80")]:
            c("CONFIG", "SET", name, value)
        kinds = [(), ("EXPANSION", "2"), ("KIND", "scalable"),
                 *(("KIND", k) for k in ("classic", "blocked", "counting", "cuckoo", "window"))]
        for i in range(3000):  # 20 items: the second and the third have grown layers; most of them sleep
            if i % 10 < 8:
                grown = i % 10 in (1, 2)
                c("BF.RESERVE", f"f{i}", "0.01", "5" if grown else "500", *kinds[i % 10])
            elif i % 10 == 8:
                c("CF.RESERVE", f"f{i}", "8")
                c("CF.INSERT", f"f{i}", "ITEMS", *range(20))
                continue
            c("BF.MADD", f"f{i}", *range(20))  # the last are made by this
        kept = [f"f{i}" for i in range(0, 3000, 7)]
        before = {k: server.digest(c, k) for k in kept}
        c("DEL", *[f"f{i}" for i in range(3000) if i % 7])
        server.until("defragmentation", lambda: int(server.info(c, "stats")["active_defrag_key_hits"]) > 0, 20)
        for k in kept:
            assert server.digest(c, k) == before[k]
            assert c("CF.MEXISTS" if int(k[1:]) % 10 == 8 else "BF.MEXISTS", k, *range(20)) == [1] * 20


# CF.* commands that change nothing in a filter f with the items a and b: RedisBloom replicates them.
NOTHING = [["CF.DEL", "f", "never"], ["CF.ADDNX", "f", "a"], ["CF.INSERTNX", "f", "ITEMS", "b", "a"], ["CF.COMPACT", "f"]]


def notifications(binary):
    with Server(("notify-keyspace-events", "KEA"), binary=binary) as s:
        c, listener = s.client(), s.client()
        (c("CONFIG", "SET", "notify-keyspace-events", "KEAd"))
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        expect = []

        def does(event, key, *words):
            c(*words)
            expect.append((f"__keyevent@0__:{event}".encode(), key.encode()))

        does("bf.reserve", "k", "BF.RESERVE", "k", "0.01", "100")
        does("bf.add", "k", "BF.ADD", "k", "x")
        c("BF.ADD", "k", "x")  # nothing changed: nothing is told
        does("bf.add", "k", "BF.MADD", "k", "x", "y")
        does("bf.add", "k", "BF.INSERT", "k", "ITEMS", "z")
        does("bf.reserve", "n", "BF.RESERVE", "n", "0.01", "100", "KIND", "counting")
        does("bf.add", "n", "BF.ADD", "n", "x")
        does("bf.del", "n", "BF.DEL", "n", "x")
        does("bf.merge", "m", "BF.MERGE", "m", "k")
        chunks = server.dump(c, "k")
        for at, data in chunks:
            does("bf.loadchunk", "l", "BF.LOADCHUNK", "l", at, data)
        does("del", "l", "DEL", "l")
        does("cf.reserve", "f", "CF.RESERVE", "f", "100")
        does("cf.add", "f", "CF.ADD", "f", "x")
        does("cf.insert", "f", "CF.INSERT", "f", "ITEMS", "y")
        does("cf.del", "f", "CF.DEL", "f", "y")
        does("cf.insert", "f", "CF.INSERT", "f", "ITEMS", "a", "b")
        for words, event in zip(NOTHING, ("cf.del", "cf.add", "cf.insert", "cf.compact")):
            does(event, "f", *words)
        does("cf.loadchunk", "g", "CF.LOADCHUNK", "g", 1, c("CF.SCANDUMP", "f", 0)[1])
        got = []
        while len(got) < len(expect):
            kind, _, channel, data = listener.read()
            if channel not in (b"__keyevent@0__:new",):
                got.append((channel, data))
        assert got == expect, (got, expect)


def watched(binary):
    """WATCH and client-side caches hear of every change, and of nothing else but CF.* commands without an error."""
    with Server(binary=binary) as s:
        c, w, t = s.client(), s.client(), s.client(3)
        t("CLIENT", "TRACKING", "ON")
        c("BF.RESERVE", "k", "0.01", "1000")
        c("BF.RESERVE", "n", "0.01", "1000", "KIND", "counting")
        (_, header), (_, data) = server.dump(c, "k")

        def does(key, changes, *words):
            w("WATCH", key)
            t("BF.EXISTS", key, "x")
            c(*words)
            assert (w.many([["MULTI"], ["PING"], ["EXEC"]])[-1] is None) == changes, words
            t.sock.sendall(t.pack("PING"))
            heard = t.read()  # an invalidation comes before the reply to what follows it
            assert (heard == [b"invalidate", [key.encode()]]) == changes, (words, heard)
            if changes:
                heard = t.read()
            assert heard == "PONG", (words, heard)

        does("k", True, "BF.ADD", "k", "a")
        does("k", False, "BF.ADD", "k", "a")
        does("k", True, "BF.MADD", "k", "a", "b")
        does("k", False, "BF.MADD", "k", "a", "b")
        does("k", True, "BF.INSERT", "k", "ITEMS", "c")
        does("n", True, "BF.ADD", "n", "a")
        does("n", True, "BF.ADD", "n", "a")  # counted
        does("n", True, "BF.DEL", "n", "a")
        does("n", False, "BF.DEL", "n", "never")
        does("k", True, "BF.MERGE", "k", "k")
        does("new", True, "BF.LOADCHUNK", "new", 1, header)
        does("new", True, "BF.LOADCHUNK", "new", 1 + len(data), data)
        does("made", True, "BF.RESERVE", "made", "0.01", "10")
        does("f", True, "CF.RESERVE", "f", "100")
        does("f", True, "CF.ADD", "f", "a")
        does("f", True, "CF.INSERTNX", "f", "ITEMS", "b")
        for words in NOTHING:
            does("f", True, *words)
        does("f", True, "CF.DEL", "f", "a")
        for words in (["CF.EXISTS", "b"], ["CF.MEXISTS", "b"], ["CF.COUNT", "b"], ["CF.INFO"], ["CF.DEBUG"],
                      ["CF.SCANDUMP", "0"]):
            does("f", False, words[0], "f", *words[1:])
        for words in (["BF.INFO"], ["BF.CARD"], ["BF.DEBUG"], ["BF.SCANDUMP", "k", "0"], ["BF.ESTIMATE"]):
            does("k", False, words[0], "k", *words[2:])


def write_only(c, user):
    """May make filters and load them. The answer of an add or a removal tells what was there: that is
    reading too."""
    c("BF.RESERVE", "app:counting", "0.01", 100, "KIND", "counting")
    c("BF.RESERVE", "app:window", "0.01", 100, "WINDOW", 10)
    c("CF.ADD", "app:c", "x")
    header, native = c("CF.SCANDUMP", "app:c", 0)[1], c("BF.SCANDUMP", "app:counting", 0)[1]
    c("ACL", "SETUSER", "blind", "on", ">b", "%W~app:*", "+@all")
    user("AUTH", "blind", "b")
    for words in (("BF.ADD", "app:k", "x"), ("BF.MADD", "app:k", "x", "y"), ("BF.INSERT", "app:k", "ITEMS", "x"),
                  ("BF.ADD", "app:none", "x"), ("BF.DEL", "app:counting", "x"), ("BF.ADDAT", "app:window", 1, "x"),
                  ("BF.MERGE", "app:k", "app:k"), ("BF.MERGE", "app:none", "app:k"), ("BF.EXISTS", "app:k", "x"),
                  ("CF.ADD", "app:c", "x"), ("CF.ADDNX", "app:c", "x"), ("CF.INSERT", "app:c", "ITEMS", "x"),
                  ("CF.INSERTNX", "app:c", "ITEMS", "x"), ("CF.DEL", "app:c", "x"), ("CF.COMPACT", "app:c"),
                  ("CF.EXISTS", "app:c", "x"), ("BF.SCANDUMP", "app:k", 0), ("BF.ESTIMATE", "app:k", "app:k")):
        assert "NOPERM" in user.error(*words), words
    for words in (("BF.RESERVE", "app:new", "0.01", 100), ("BF.LOADCHUNK", "app:loaded", 1, native),
                  ("CF.RESERVE", "app:newc", 100), ("CF.LOADCHUNK", "app:loadedc", 1, header)):
        assert user(*words) == "OK", words
    c("DEL", "app:counting", "app:window", "app:c", "app:new", "app:loaded", "app:newc", "app:loadedc")


def access(binary):
    with Server(binary=binary) as s:
        c = s.client()
        c("BF.ADD", "app:k", "x")
        c("BF.ADD", "other", "x")
        c("ACL", "SETUSER", "reader", "on", ">r", "%R~app:*", "+@all")
        c("ACL", "SETUSER", "writer", "on", ">w", "~app:*", "+@all")
        r, w = s.client(), s.client()
        r("AUTH", "reader", "r")
        w("AUTH", "writer", "w")
        assert r("BF.EXISTS", "app:k", "x") == 1 and r("BF.MEXISTS", "app:k", "x") == [1]
        assert r("BF.CARD", "app:k") == 1 and r("BF.INFO", "app:k") and r("BF.DEBUG", "app:k")
        assert "NOPERM" in r.error("BF.ADD", "app:k", "y") and "NOPERM" in r.error("BF.EXISTS", "other", "x")
        assert w("BF.ADD", "app:k", "y") == 1 and "NOPERM" in w.error("BF.ADD", "other", "y")
        assert "NOPERM" in w.error("BF.MERGE", "app:m", "app:k", "other")
        assert w("BF.MERGE", "app:m", "app:k") == "OK"
        write_only(c, s.client())
        c("CF.ADD", "other-cf", "x")
        assert w("CF.ADD", "app:cf", "x") == 1 and w("CF.INSERT", "app:cf", "ITEMS", "y") == [1]
        for words in (("CF.ADD", "x"), ("CF.ADDNX", "z"), ("CF.INSERT", "ITEMS", "z"), ("CF.INSERTNX", "ITEMS", "z"),
                      ("CF.DEL", "x"), ("CF.COMPACT",), ("CF.RESERVE", "10"), ("CF.LOADCHUNK", "1", "x")):
            assert "NOPERM" in w.error(words[0], "other-cf", *words[1:]), words
            assert "NOPERM" in r.error(words[0], "app:cf", *words[1:]), words
        for words in (("CF.EXISTS", "x"), ("CF.MEXISTS", "x"), ("CF.COUNT", "x"), ("CF.INFO",), ("CF.DEBUG",),
                      ("CF.SCANDUMP", "0")):
            assert "NOPERM" in r.error(words[0], "other-cf", *words[1:]), words
            assert r(words[0], "app:cf", *words[1:]), words
        categories = [x.decode() for x in c("ACL", "CAT")]
        version = server.info(c, "server")["redis_version"].split(".")
        if "bloom" in categories:  # Valkey 8.0 has it, and ACL CAT lists no module's commands
            for name in COMMANDS:
                own = c("COMMAND", "INFO", name)[0][6]
                assert ("@bloom" if name.startswith("bf.") else "@cuckoo") in own, name
                assert ("@read" if name in READS else "@write") in own, name
            c("ACL", "SETUSER", "only", "on", ">o", "~*", "-@all", "+@bloom")
            c("ACL", "SETUSER", "birds", "on", ">o", "~*", "-@all", "+@cuckoo")
            o, b = s.client(), s.client()
            o("AUTH", "only", "o")
            b("AUTH", "birds", "o")
            assert o("BF.ADD", "app:k", "z") == 1 and "NOPERM" in o.error("GET", "app:k")
            assert b("CF.ADD", "app:cf", "z") == 1 and "NOPERM" in b.error("BF.ADD", "app:k", "z")
            assert "NOPERM" in o.error("CF.ADD", "app:cf", "z")
        else:
            assert int(version[0]) * 100 + int(version[1]) < 704, version
            print(f"  ACL category: this server ({'.'.join(version)}) has no API for one")


def arguments_of(c, name):
    """What COMMAND DOCS says of a command's arguments: each as a dict."""
    def each(rows):
        for row in rows:
            row = dict(zip(*[iter(row)] * 2))
            if b"arguments" in row:
                row[b"arguments"] = list(each(row[b"arguments"]))
            yield row
    return list(each(dict(zip(*[iter(c("COMMAND", "DOCS", name)[1])] * 2))[b"arguments"]))


def self_description(binary):
    with Server(binary=binary) as s:
        c = s.client()
        listed = {x.decode() for x in c("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")}
        assert listed >= set(COMMANDS) | {"bf.estimate"}, listed
        for name, arity in COMMANDS.items():
            (row,) = c("COMMAND", "INFO", name)
            flags = set(row[2])
            assert row[1] == arity, (name, row[1])
            assert row[3:5] == [1, -1 if name in ("bf.merge",) else 1] or name == "bf.merge", (name, row[3:6])
            assert ("readonly" in flags) == (name in READS) and ("write" in flags) == (name not in READS), (name, flags)
            assert ("denyoom" in flags) == (name not in READS | FREES), (name, flags)
            docs = dict(zip(*[iter(c("COMMAND", "DOCS", name)[1])] * 2))
            assert docs[b"summary"] and docs[b"complexity"] and docs[b"since"] and docs[b"arguments"], name
        words = dict(zip(*[iter(c("COMMAND", "DOCS", "bf.reserve")[1])] * 2))[b"arguments"]
        kinds = [kind[1] for word in words if word[1] == b"kind" for kind in word[-1]]
        assert len(kinds) > 5, words
        for kind in kinds:  # what it says can be made
            assert c("BF.RESERVE", kind, "0.01", 10, "KIND", kind) == "OK" and c("DEL", kind) == 1
        blocks = {name: [(a[b"name"], a[b"type"], a.get(b"token"), [(b[b"name"], b[b"type"], b.get(b"token")) for b in a[b"arguments"]])
                         for a in arguments_of(c, name) if a[b"type"] == b"block" and a.get(b"flags") == ["optional"]]
                  for name in ("cf.reserve", "cf.insert", "cf.insertnx")}
        assert blocks["cf.reserve"] == [(w, b"block", w.upper(), [(w, b"integer", None)])
                                        for w in (b"bucketsize", b"maxiterations", b"expansion")], blocks
        assert blocks["cf.insert"] == blocks["cf.insertnx"] == [(b"capacity", b"block", None, [
            (b"capacity", b"pure-token", b"CAPACITY"), (b"capacity", b"integer", None)])], blocks
        assert c("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c") == [b"a", b"b", b"c"]
        assert c("COMMAND", "GETKEYS", "BF.INSERT", "a", "ITEMS", "b") == [b"a"]
        assert c("COMMAND", "GETKEYS", "CF.INSERT", "a", "ITEMS", "b") == [b"a"]
        # INFO.
        c("BF.MADD", "k", *range(50))
        c("BF.RESERVE", "n", "0.01", "100", "KIND", "classic")
        c("BF.MEXISTS", "k", *range(10))
        c("BF.EXISTS", "n", "x")
        c.many([["RESTORE", "bad", 0, server.payload_of(c("DUMP", "k")[:-20] + b"\0")]])
        facts = server.info(c, "bf_filters") or server.info(c, "modules")
        assert facts["bf_filters"] == "2", facts
        assert int(facts["bf_items"]) == c("BF.CARD", "k") and int(facts["bf_checks"]) >= 11, facts
        sizes = c("BF.INFO", "k", "SIZE")[0] + c("BF.INFO", "n", "SIZE")[0]
        assert 0 < int(facts["bf_bytes"]) <= sizes, (facts, sizes)
        assert int(facts["bf_refused_loads"]) >= 1, facts
        c("DEL", "k", "n")
        assert server.info(c, "modules")["bf_filters"] == "0", server.info(c, "modules")
        c("BF.ADD", "k", "x")
        c("FLUSHALL")
        server.until("the count after FLUSHALL", lambda: server.info(c, "modules")["bf_filters"] == "0", 10)


def configs(binary):
    with Server(binary=binary) as s:
        c = s.client()
        size, rate = config_name(c, "bf-initial-size"), config_name(c, "bf-error-rate")
        factor, cap = config_name(c, "bf-expansion-factor"), config_name(c, "bf-max-bytes")
        c("CONFIG", "SET", size, "500", rate, "0.001", factor, "4")
        c("BF.ADD", "k", "x")
        assert c("BF.INFO", "k", "CAPACITY") == [500]
        assert b"ratio:0.0005" in c("BF.DEBUG", "k")[1]
        for name, value in [(size, "0"), (size, "1073741825"), (size, "x"), (rate, "0"), (rate, "1"), (rate, "nan"),
                            (rate, "x"), (factor, "-1"), (factor, "32769")]:
            assert "CONFIG SET failed" in c.error("CONFIG", "SET", name, value), (name, value)
        c("CONFIG", "SET", factor, "2", size, "100")
        for text in ("0.01", "0.01234567891", "0.0123456789123456789", "0.2499999999999999", "1e-300"):
            c("CONFIG", "SET", rate, text)
            c("BF.MADD", text, *range(25_000))
            facts = c("BF.INFO", text, "FILTERS") + c("BF.INFO", text, "CAPACITY")
            assert facts == [8, 51_100], (text, facts)  # RedisBloom's would be 25 500: see redis/growth.c
        c("CONFIG", "SET", rate, "0.9")
        assert c("CONFIG", "GET", rate)[1] == b"0.25"
        c("CONFIG", "SET", factor, "0", rate, "0.01", size, "10")
        c("BF.ADD", "fixed", "x")
        assert c("BF.INFO", "fixed", "EXPANSION") == [None]
        # The cap: refused before it is allocated, by whatever way a filter comes.
        c("CONFIG", "SET", cap, "100kb")
        assert c("BF.RESERVE", "fits", "0.01", "50000") == "OK"
        c.error("BF.RESERVE", "big", "0.01", "1000000")
        c.error("BF.RESERVE", "big", "0.01", "1000000", "KIND", "blocked")
        c.error("BF.INSERT", "big", "CAPACITY", "1000000", "ITEMS", "x")
        c("CONFIG", "SET", cap, "2gb")
        c("BF.RESERVE", "big", "0.01", "1000000")
        c("BF.RESERVE", "bign", "0.01", "1000000", "KIND", "classic")
        chunks, native, payloads = server.dump(c, "big"), server.dump(c, "bign"), [c("DUMP", "big"), c("DUMP", "bign")]
        c("CONFIG", "SET", cap, "100kb")
        assert "bf-max-bytes" in c.error("BF.LOADCHUNK", "l", *chunks[0])
        (first, *_) = c.many([["BF.LOADCHUNK", "ln", *x] for x in native])[-1:]
        assert isinstance(first, Error), first
        for payload in payloads:
            assert c.error("RESTORE", "r", 0, payload) == "ERR Bad data format"
        assert s.log().count("larger than bf-max-bytes allows") == 2, s.log()
        assert c("EXISTS", "l", "ln", "r") == 0
    for arguments, good in [(("bf-error-rate", "0.005", "bf-initial-size", "77"), True),
                            (("ERROR_RATE", "0.005", "INITIAL_SIZE", "77"), True), (("",), True),
                            (("CF_MAX_EXPANSIONS", "3", "INITIAL_SIZE", "77"), True), (("CF_MAX_EXPANSIONS", "0"), False),
                            (("bf-max-bytes", "3GB", "bf-initial-size", "77"), True),
                            (("bf-max-bytes", "3221225472", "bf-initial-size", "77"), True),
                            (("bf-max-bytes", "3g"), False), (("bf-max-bytes", "3gbx"), False),
                            (("bf-max-bytes", "kb"), False), (("bf-max-bytes", "65tb"), False),
                            (("bf-max-bytes", "99999999999999999999"), False),
                            (("bf-error-rate",), False), (("COLOUR", "red"), False), (("ERROR_RATE", "2"), False)]:
        try:
            with Server(binary=binary, arguments=arguments) as s:
                c = s.client()
                c("BF.ADD", "k", "x")
                assert good, arguments
                assert c("BF.INFO", "k", "CAPACITY") == [77 if arguments != ("",) else 100]
                if "bf-max-bytes" in arguments:
                    assert c("CONFIG", "GET", "*bf-max-bytes")[1] == b"3221225472"
                if "CF_MAX_EXPANSIONS" in arguments:
                    assert c("CONFIG", "GET", "*cf-max-expansions")[1] == b"3"
        except AssertionError as e:
            assert not good and "did not start" in str(e), (arguments, e)


def memory_limit(binary):
    with Server(binary=binary) as s:
        c = s.client()
        c("BF.MADD", "k", *range(100))
        chunks = server.dump(c, "k")
        c("BF.RESERVE", "n", "0.01", "100", "KIND", "counting")
        c("BF.ADD", "n", "x")
        c("CONFIG", "SET", "maxmemory", "100kb", "maxmemory-policy", "noeviction")  # less than an empty server takes
        for words in [("BF.ADD", "k", "new"), ("BF.MADD", "k", "new"), ("BF.INSERT", "k", "ITEMS", "new"),
                      ("BF.RESERVE", "r", "0.01", "10"), ("BF.LOADCHUNK", "l", *chunks[0]),
                      ("BF.MERGE", "m", "k")]:
            assert c.error(*words).startswith("OOM "), words
        assert c("BF.EXISTS", "k", 5) == 1 and c("BF.MEXISTS", "k", 5, 6) == [1, 1]
        assert c("BF.DEL", "n", "x") == 1  # forgetting takes no memory
        c("CONFIG", "SET", "maxmemory", "0")
        assert c("BF.ADD", "k", "new") == 1


def asked_for(s):
    """How much of the server's memory has asked for huge pages."""
    total, size = 0, 0
    for line in open(f"/proc/{s.process.pid}/smaps", encoding="utf8"):
        if line.startswith("Size:"):
            size = int(line.split()[1]) * 1024
        elif line.startswith("VmFlags:") and "hg" in line.split():
            total += size
    return total


def huge_pages(binary):
    """Large arrays ask for them where that is left to programs, small ones never; and what is freed, or a
    server that must not, has none."""
    try:
        rule = open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="utf8").read()
    except OSError:
        rule = "(the kernel has none)"
    if "[madvise]" not in rule:
        print(f"  huge pages: not for programs to ask for here: {rule.strip()}")
    with Server(binary=binary) as s:
        c = s.client()
        before, expected = asked_for(s), 16 << 20 if "[madvise]" in rule else 0

        def freed():  # by some servers in the background
            server.until("freeing", lambda: asked_for(s) == before)

        c("BF.RESERVE", "small", "0.01", "100000")
        assert asked_for(s) == before
        for words in ((), ("KIND", "blocked")):
            c("BF.RESERVE", "large", "0.001", "16000000", *words)  # 29 and 31 MB
            c("BF.MADD", "large", *range(1000))
            assert asked_for(s) >= before + expected and (expected or asked_for(s) == before), words
            payload = c("DUMP", "large")
            c("DEL", "large")
            freed()
            c("RESTORE", "large", 0, payload)
            assert asked_for(s) >= before + expected and (expected or asked_for(s) == before), words
            assert c("BF.MEXISTS", "large", *range(1000)) == [1] * 1000
            c("DEL", "large")
            freed()
        c("CONFIG", "SET", config_name(c, "bf-huge-pages"), "no")
        c("BF.RESERVE", "large", "0.001", "16000000")
        assert asked_for(s) == before


def main():
    for test in (copies_and_memory, defragmentation, notifications, watched, access, self_description, configs,
                 memory_limit, huge_pages):
        server.each_server(test)


if __name__ == "__main__":
    server.run([main])
