# SPDX-License-Identifier: MIT
"""Every BF command: replies in both protocols, options, defaults, ranges, and the exact words of the
errors that RedisBloom's clients know. What is ours alone (KIND, BF.DEL, BF.MERGE, BF.ESTIMATE) too."""
import itertools
import random
import statistics

import server
from server import Error, Server

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
FULL = "ERR non scaling filter is full"


def flat(pairs):
    return dict(zip(pairs[::2], pairs[1::2]))


def of(c, key):
    """BF.INFO in RESP2 as a dictionary."""
    return flat(c("BF.INFO", key))


def layers(c, key):
    """BF.DEBUG's lines as dictionaries."""
    head, *rest = c("BF.DEBUG", key)
    assert head.startswith(b"size:"), head
    return [dict(part.split(b":") for part in line.split()) for line in rest]


def check_reserve(c):
    assert c("BF.RESERVE", "r1", "0.01", "1000") == "OK"
    assert of(c, "r1") == {"Capacity": 1000, "Size": 1480, "Number of filters": 1,
                           "Number of items inserted": 0, "Expansion rate": 2}
    # Geometry, as the peer's: (rate, capacity, words) -> bytes, hashes.
    table = [("0.01", 100, [], 144, 8), ("0.01", 100, ["NONSCALING"], 120, 7),
             ("0.01", 1000, [], 1384, 8), ("1e-10", 100, [], 624, 35),
             ("0.01", 10_000_000, [], 13784696, 8)]
    for i, (rate, n, words, size, hashes) in enumerate(table):
        assert c("BF.RESERVE", f"g{i}", rate, n, *words) == "OK"
        (layer,) = layers(c, f"g{i}")
        assert (int(layer[b"bytes"]), int(layer[b"hashes"])) == (size, hashes), (rate, n, layer)
        assert int(layer[b"bits"]) == size * 8 and layer[b"hashwidth"] == b"64"
        assert of(c, f"g{i}")["Size"] == 96 + size
    assert c("BF.RESERVE", "z", "0.01", "100", "EXPANSION", "0") == "OK"
    assert of(c, "z")["Size"] == 216 and of(c, "z")["Expansion rate"] is None
    assert c("bf.reserve", "z2", "0.01", "100", "expansion", "0", "nonscaling") == "OK"
    assert c("BF.RESERVE", "cap", "0.9", "10") == "OK"  # capped at 0.25, half of it to the layer
    assert layers(c, "cap")[0][b"ratio"] == b"0.125"
    assert c("BF.RESERVE", "tiny", "1e-320", "10") == "OK"  # what was asked for, not what makes itself
    assert of(c, "tiny")["Expansion rate"] == 2
    for i, e in enumerate([1, 4, 32768]):
        assert c("BF.RESERVE", f"e{i}", "0.01", "10", "EXPANSION", e) == "OK"
        assert of(c, f"e{i}")["Expansion rate"] == e
    for words, text in [
        (("nan", "100"), "ERR bad error rate"), (("x", "100"), "ERR bad error rate"),
        (("", "100"), "ERR bad error rate"),
        (("0", "100"), "ERR error rate must be in the range (0.000000, 1.000000)"),
        (("4e-324", "100"), "ERR error rate is too small"),
        (("1", "100"), "ERR error rate must be in the range (0.000000, 1.000000)"),
        (("-1", "100"), "ERR error rate must be in the range (0.000000, 1.000000)"),
        (("inf", "100"), "ERR error rate must be in the range (0.000000, 1.000000)"),
        (("0.1", "abc"), "ERR bad capacity"), (("0.1", "1.5"), "ERR bad capacity"),
        (("0.1", "0"), "ERR capacity must be in the range [1, 1073741824]"),
        (("0.1", "-1"), "ERR capacity must be in the range [1, 1073741824]"),
        (("0.1", "1073741825"), "ERR capacity must be in the range [1, 1073741824]"),
        (("0.1", "10", "EXPANSION"), "ERR no expansion"),
        (("0.1", "10", "EXPANSION", "x"), "ERR bad expansion"),
        (("0.1", "10", "EXPANSION", "-1"), "ERR expansion must be in the range [0, 32768]"),
        (("0.1", "10", "EXPANSION", "32769"), "ERR expansion must be in the range [0, 32768]"),
        (("0.1", "10", "NONSCALING", "EXPANSION", "2"), "Nonscaling filters cannot expand"),
    ]:
        assert c.error("BF.RESERVE", "new", *words) == text, (words, c.error("BF.RESERVE", "new", *words))
        assert c("EXISTS", "new") == 0
    assert c.error("BF.RESERVE", "r1", "0.01", "10") == "ERR item exists"
    c("SET", "text", "x")
    assert c.error("BF.RESERVE", "text", "0.01", "10") == WRONGTYPE
    for words in (["0.01"], ["0.01", "100", *["NONSCALING"] * 4], ["0.01", "100", "EXPANSION", "2", "NONSCALING", "x"],
                  ["bad", "bad", "EXPANSION", "2", "EXPANSION", "2"]):  # 4 to 7 with the command
        assert c.error("BF.RESERVE", "k", *words) == "ERR wrong number of arguments for 'bf.reserve' command", words
    assert c("BF.RESERVE", "seven", "0.01", "100", "EXPANSION", "0", "NONSCALING") == "OK"
    assert c("BF.RESERVE", "more", "0.01", "100", "NONSCALING", "SATURATE", "SEED", "0", "KIND", "Classic") == "OK"
    for kind in "classi", "classicc", b"classic\0", b"classic\0x", "", "static", "x" * 40:
        assert "KIND must be " in c.error("BF.RESERVE", "k", "0.01", "100", "KIND", kind), kind
    for i in range(256):  # a seed's digits
        words = ["BF.RESERVE", f"seed{i}", "0.01", "10", "KIND", "classic", "SEED", b"0x1" + bytes([i])]
        if bytes([i]) in b"0123456789abcdefABCDEF":
            assert c(*words) == "OK", i
        else:
            assert "hexadecimal" in c.error(*words), i
    for text in b"0xabCDef", b"0XabCDef", b"0xa\x11", b"0x", b"0x" + b"1" * 33, b"-1", b"1\0":
        words = ["BF.RESERVE", b"s" + text, "0.01", "10", "KIND", "classic", "SEED", text]
        good = text == b"0xabCDef"
        assert c(*words) == "OK" if good else "SEED must be" in c.error(*words), text
    c("BF.RESERVE", "same seed", "0.01", "10", "KIND", "classic", "SEED", 0xabcdef)
    assert server.dump(c, "same seed") == server.dump(c, "s0xabCDef")
    # 193 GB: refused before anything is allocated, and the server lives.
    c.error("BF.RESERVE", "huge", "1e-300", "1073741824")
    assert c("EXISTS", "huge") == 0 and c("PING") == "PONG"


def check_add_and_ask(c):
    assert c("BF.ADD", "a", "x") == 1 and c("BF.ADD", "a", "x") == 0
    assert of(c, "a")["Capacity"] == 100 and of(c, "a")["Size"] == 240
    assert of(c, "a")["Expansion rate"] == 2
    assert c("BF.MADD", "a", "x", "y", "", b"\x00\xff\r\n") == [0, 1, 1, 1]
    assert c("BF.EXISTS", "a", "") == 1 and c("BF.EXISTS", "a", b"\x00\xff\r\n") == 1
    assert c("BF.MEXISTS", "a", "x", "no", "y") == [1, 0, 1]
    assert c("BF.CARD", "a") == 4
    # Missing and wrong.
    assert c("BF.EXISTS", "none", "x") == 0 and c("BF.MEXISTS", "none", "x", "y") == [0, 0]
    assert c("BF.CARD", "none") == 0
    assert c("BF.EXISTS", "text", "x") == 0 and c("BF.MEXISTS", "text", "x") == [0]
    assert c.error("BF.CARD", "text") == WRONGTYPE
    assert c.error("BF.ADD", "text", "x") == WRONGTYPE and c.error("BF.MADD", "text", "x") == WRONGTYPE
    assert c.error("BF.INSERT", "text", "ITEMS", "x") == WRONGTYPE
    for command in ("BF.INFO", "BF.DEBUG"):
        assert c.error(command, "none") == "ERR not found"
        assert c.error(command, "text") == WRONGTYPE
    assert c.error("BF.SCANDUMP", "none", 0) == "ERR not found"
    assert c.error("BF.SCANDUMP", "text", 0) == WRONGTYPE
    for words in [("BF.ADD", "a"), ("BF.ADD", "a", "x", "y"), ("BF.MADD", "a"), ("BF.EXISTS", "a"),
                  ("BF.EXISTS", "a", "x", "y"), ("BF.MEXISTS", "a"), ("BF.CARD",), ("BF.CARD", "a", "b"),
                  ("BF.INFO",), ("BF.DEBUG",), ("BF.DEBUG", "a", "b"), ("BF.SCANDUMP", "a"),
                  ("BF.LOADCHUNK", "a", "1"), ("BF.INSERT", "a"), ("BF.DEL", "a"), ("BF.MERGE", "a"),
                  ("BF.ESTIMATE",)]:
        assert c.error(*words) == f"ERR wrong number of arguments for '{words[0].lower()}' command", words


def check_answers(c, c3):
    """Answers to many items, of every length, in both protocols, before errors, in transactions and
    scripts, are those of single commands."""
    c("BF.RESERVE", "few", "1e-9", 4000)
    there = random.Random(7).sample(range(4000), 2000)
    for at in range(0, 2000, 100):
        assert c("BF.MADD", "few", *there[at:at + 100]) == [1] * 100
    there = set(there)
    right = [int(i in there) for i in range(4000)]
    assert c.many([("BF.EXISTS", "few", i) for i in range(4000)]) == right
    for n in [*range(1, 70), 100, 255, 256, 257, 1000]:
        keys, want = range(n, 2 * n), right[n:2 * n]
        assert c("BF.MEXISTS", "few", *keys) == want, n
        reply = c3("BF.MEXISTS", "few", *keys)
        assert reply == [bool(w) for w in want] and all(type(r) is bool for r in reply), n
        assert c("BF.MEXISTS", "missing", *keys) == [0] * n
        # New ones and old ones by turns, with room and, in the second, without.
        mixed = [k for i in range(n) for k in (f"{n}:{i}", f"{n}:{i // 2}")][:n]
        for capacity in (4000, 1):
            c("BF.RESERVE", "one", "1e-9", capacity)
            c("BF.RESERVE", "all", "1e-9", capacity)
            assert c("BF.MADD", "all", *mixed) == c.many([("BF.ADD", "one", k) for k in mixed]), n
            c("DEL", "one", "all")
        c("BF.RESERVE", "full", "1e-9", n, "NONSCALING")
        *taken, last = c("BF.MADD", "full", *range(n + 2))
        assert taken == [1] * n and str(last) == FULL, n
        c("DEL", "full")
    keys, want = range(500, 1540), right[500:1540]
    assert c.many([("MULTI",), ("BF.MEXISTS", "few", *keys), ("BF.MADD", "few", "tx", *range(20)),
                   ("EXEC",)])[3] == [want, [1] + [int(not r) for r in right[:20]]]
    ask = "return redis.call('bf.mexists', KEYS[1], unpack(ARGV))"
    assert c("EVAL", ask, 1, "few", *keys) == want
    assert c("EVAL", "redis.setresp(3); local t = " + ask[7:] + "; local n = 0; for _, v in "
             "ipairs(t) do if v == true then n = n + 1 end end; return n", 1, "few", *keys) == sum(want)
    c("DEL", "few")


def check_full(c):
    c("BF.RESERVE", "ns", "0.01", "2", "NONSCALING")
    reply = c("BF.MADD", "ns", "a", "b", "c", "d", "e")
    assert reply[:2] == [1, 1] and len(reply) == 3 and str(reply[2]) == FULL, reply
    assert c("BF.ADD", "ns", "a") == 0 and c.error("BF.ADD", "ns", "new") == FULL
    assert c("BF.CARD", "ns") == 2
    reply = c("BF.INSERT", "ns", "ITEMS", "a", "q", "b")
    assert reply[0] == 0 and str(reply[1]) == FULL and len(reply) == 2, reply
    # A scaling filter grows instead, and denies nothing it was given.
    c("BF.RESERVE", "grow", "0.001", "10", "EXPANSION", "3")
    keys = [f"k{i}" for i in range(1000)]
    added = c("BF.MADD", "grow", *keys)
    assert sum(added) == c("BF.CARD", "grow") >= 985
    assert c("BF.MEXISTS", "grow", *keys) == [1] * 1000
    assert [int(x[b"capacity"]) for x in layers(c, "grow")][:4] == [10, 30, 90, 270]
    ratios = [float(x[b"ratio"]) for x in layers(c, "grow")]
    assert ratios[:3] == [0.0005, 0.00025, 0.000125], ratios


def check_insert(c):
    assert c("BF.INSERT", "i1", "ITEMS", "a", "b", "a") == [1, 1, 0]
    assert of(c, "i1")["Capacity"] == 100
    assert c("BF.INSERT", "i2", "CAPACITY", "50", "ERROR", "0.001", "EXPANSION", "4", "ITEMS", "a") == [1]
    assert of(c, "i2")["Capacity"] == 50 and of(c, "i2")["Expansion rate"] == 4
    assert layers(c, "i2")[0][b"ratio"] == b"0.0005"
    assert c("BF.INSERT", "i3", "NONSCALING", "EXPANSION", "2", "ITEMS", "a") == [1]
    assert of(c, "i3")["Expansion rate"] is None
    assert c("BF.INSERT", "i2", "CAPACITY", "7", "NOCREATE", "ITEMS", "b", "NOCREATE") == [1, 1]
    assert of(c, "i2")["Capacity"] == 50
    assert c("BF.INSERT", "i2", "items", "ITEMS") == [1]
    assert c.error("BF.INSERT", "none", "NOCREATE", "ITEMS", "a") == "ERR not found"
    for words, text in [(("ERROR", "x", "ITEMS", "a"), "Bad error rate"),
                        (("ERROR", "0", "ITEMS", "a"), "Bad error rate"),
                        (("ERROR", "nan", "ITEMS", "a"), "Bad error rate"),
                        (("CAPACITY", "x", "ITEMS", "a"), "Bad capacity"),
                        (("CAPACITY", "0", "ITEMS", "a"), "Bad capacity"),
                        (("EXPANSION", "x", "ITEMS", "a"), "Bad expansion"),
                        (("JUNK", "ITEMS", "a"), "Unknown argument received")]:
        assert c.error("BF.INSERT", "new", *words) == text, (words, c.error("BF.INSERT", "new", *words))
        assert c("EXISTS", "new") == 0
    for words in [("CAPACITY", "5", "ERROR", "0.1"), ("NOCREATE", "ITEMS"), ("ERROR", "0.1", "CAPACITY")]:
        assert "wrong number of arguments" in c.error("BF.INSERT", "new", *words), words


def check_info(c, c3):
    c("BF.RESERVE", "inf", "0.01", "1000")
    c("BF.ADD", "inf", "x")
    names = {"CAPACITY": ("Capacity", 1000), "SIZE": ("Size", 1480), "FILTERS": ("Number of filters", 1),
             "ITEMS": ("Number of items inserted", 1), "EXPANSION": ("Expansion rate", 2)}
    for word, (name, value) in names.items():
        assert c("BF.INFO", "inf", word) == [value], word
        assert c("BF.INFO", "inf", word.lower()) == [value], word
        assert c3("BF.INFO", "inf", word) == {name: value}, word
    assert c3("BF.INFO", "inf") == dict(names.values())
    assert list(itertools.islice(c("BF.INFO", "inf"), 0, None, 2)) == [n for n, _ in names.values()]
    assert c.error("BF.INFO", "inf", "COLOUR") == "Invalid information value"
    assert c("BF.DEBUG", "inf") == [b"size:1", b"bytes:1384 bits:11072 hashes:8 hashwidth:64 "
                                    b"capacity:1000 size:1 ratio:0.005"]


def check_resp3(c3):
    assert c3("BF.ADD", "three", "x") is True and c3("BF.ADD", "three", "x") is False
    assert c3("BF.MADD", "three", "x", "y") == [False, True]
    assert c3("BF.EXISTS", "three", "y") is True and c3("BF.EXISTS", "none", "y") is False
    assert c3("BF.MEXISTS", "three", "y", "q") == [True, False]
    assert c3("BF.INSERT", "three", "ITEMS", "z", "z") == [True, False]
    assert c3("BF.CARD", "three") == 3 and type(c3("BF.CARD", "three")) is int
    c3("BF.RESERVE", "three-ns", "0.01", "2", "NONSCALING")
    reply = c3("BF.MADD", "three-ns", "a", "b", "c", "d")
    assert reply[:2] == [True, True] and str(reply[2]) == FULL and len(reply) == 3
    assert c3("BF.INFO", "three-ns")["Expansion rate"] is None
    at, data = c3("BF.SCANDUMP", "three", 0)
    assert at == 1 and len(data) == 73


def check_chunks(c):
    c("BF.RESERVE", "sd", "0.01", "10")
    c("BF.ADD", "sd", "a")
    chunks = server.dump(c, "sd")
    assert [at for at, _ in chunks] == [1, 17] and [len(d) for _, d in chunks] == [73, 16]
    assert c.error("BF.SCANDUMP", "sd", "x") == "Second argument must be numeric"
    assert c("BF.SCANDUMP", "sd", -1) == [0, b""] and c("BF.SCANDUMP", "sd", 1 << 40) == [0, b""]
    server.load(c, "sd2", chunks)
    assert server.dump(c, "sd2") == chunks and server.digest(c, "sd") == server.digest(c, "sd2")
    assert c("BF.EXISTS", "sd2", "a") == 1
    for words, text in [(("sd2", "x", "d"), "ERR Second argument must be numeric"),
                        (("new", 1, "junk"), "ERR received bad data"),
                        (("new", 17, chunks[1][1]), "ERR not found"),
                        (("sd2", 0, "d"), "ERR received bad data"),
                        (("sd2", -5, "d"), "ERR received bad data"),
                        (("sd2", 3, "12345678"), "ERR received bad data"),
                        (("sd2", 9999, "d"), "ERR invalid offset - no link found"),
                        (("sd2", 19, b"x" * 17), "ERR invalid chunk - Too big for current filter"),
                        (("text", 1, chunks[0][1]), WRONGTYPE)]:
        assert c.error("BF.LOADCHUNK", *words) == text, (words, c.error("BF.LOADCHUNK", *words))
    assert c("BF.LOADCHUNK", "sd2", 16, "") == "OK"
    assert server.dump(c, "sd2") == chunks and c("EXISTS", "new") == 0


def check_arriving(c):
    """A native filter of which not all has come: maybe to every question, and nothing else."""
    c("BF.RESERVE", "whole", "0.01", "100000", "KIND", "blocked")
    c("BF.MADD", "whole", *range(100))
    (_, head), (_, data) = server.dump(c, "whole")
    assert c("BF.LOADCHUNK", "half", 1, head) == "OK"
    at = 0
    for end in (1, 5000, 5000, 70000, len(data)):
        assert c("BF.EXISTS", "half", "x") == 1 and c("BF.MEXISTS", "half", "x", "y") == [1, 1]
        for words in (("BF.ADD", "half", "x"), ("BF.MADD", "half", "x"), ("BF.INSERT", "half", "ITEMS", "x"),
                      ("BF.INFO", "half"), ("BF.CARD", "half"), ("BF.DEBUG", "half"), ("BF.SCANDUMP", "half", 0),
                      ("BF.DEL", "half", "x"), ("BF.MERGE", "half", "whole"), ("BF.MERGE", "other", "half"),
                      ("BF.ESTIMATE", "half"), ("BF.ESTIMATE", "whole", "half")):
            assert c.error(*words) == "ERR filter is being loaded", words
        assert c.error("BF.RESERVE", "half", "0.01", "10") == "ERR item exists"
        assert c.error("BF.LOADCHUNK", "half", 1, head) == "ERR received bad data"
        assert c.error("BF.LOADCHUNK", "half", at + 102, b"x") == "ERR invalid offset - no link found"
        assert "Too big" in c.error("BF.LOADCHUNK", "half", 1 + at + len(data) + 1, b"x" * (len(data) + 1))
        c("DEBUG", "RELOAD")
        assert c("BF.LOADCHUNK", "half", 1 + end, data[at:end]) == "OK"
        at = end
    assert server.digest(c, "half") == server.digest(c, "whole") and c("BF.CARD", "half") == 100
    assert c.error("BF.LOADCHUNK", "half", 1 + len(data), data) == "ERR invalid offset - no link found"
    # Bytes that turn out to be none.
    assert c("BF.LOADCHUNK", "bad", 1, head) == "OK"
    assert "bad data" in c.error("BF.LOADCHUNK", "bad", 1 + len(data), data[:-9] + b"x" * 9)
    assert c("EXISTS", "bad") == 0


def check_native(c):
    for kind in ("classic", "blocked", "counting", "scalable"):
        key = "n-" + kind
        # With a seed: one of 5 000 would find "never-there" below.
        assert c("BF.RESERVE", key, "0.01", "1000", "KIND", kind, "SEED", "1") == "OK"
        assert c("TYPE", key) not in ("MBbloom--", "none")
        keys = [f"{kind}{i}" for i in range(500)]
        assert sum(c("BF.MADD", key, *keys)) >= 490
        assert c("BF.MEXISTS", key, *keys) == [1] * 500
        assert c("BF.EXISTS", key, keys[0]) == 1
        assert kind == "counting" or c("BF.ADD", key, keys[0]) == 0
        assert sum(c("BF.MEXISTS", key, *[f"absent{i}" for i in range(1000)])) < 60
        facts = of(c, key)
        assert facts["Kind"] == kind and facts["Number of filters"] >= 1, facts
        assert abs(float(facts["Error rate"]) - 0.01) < 1e-9
        chunks = server.dump(c, key)
        server.load(c, key + "2", chunks)
        assert server.digest(c, key) == server.digest(c, key + "2")
        assert c("BF.MEXISTS", key + "2", *keys) == [1] * 500
        assert c("COPY", key, key + "3") == 1 and server.digest(c, key) == server.digest(c, key + "3")
        payload = c("DUMP", key)
        assert c("RESTORE", key + "4", 0, payload) == "OK"
        assert server.digest(c, key) == server.digest(c, key + "4")
        c("DEL", key + "2", key + "3", key + "4")
    assert c("BF.DEL", "n-counting", "counting0") == 1
    assert c("BF.MEXISTS", "n-counting", *[f"counting{i}" for i in range(1, 500)]) == [1] * 499
    assert c("BF.EXISTS", "n-counting", "counting0") in (0, 1)
    assert c("BF.DEL", "n-counting", "never-there", "counting1") == [0, 1]
    c.error("BF.DEL", "n-classic", "x")
    assert c.error("BF.DEL", "none", "x") == "ERR not found" and c.error("BF.DEL", "text", "x") == WRONGTYPE
    for name in ("cubic", "", "a-name-that-is-longer-than-any"):
        assert c.error("BF.RESERVE", "new", "0.01", "10", "KIND", name) == \
            "ERR KIND must be classic, blocked, counting, scalable, window or cuckoo"
    assert c("EXISTS", "new") == 0
    # Saturating: no error past the plan, and nothing is denied; nor is a copy of one that is past it full.
    assert c("BF.RESERVE", "sat", "0.01", "10", "NONSCALING", "SATURATE") == "OK"
    assert of(c, "sat")["Kind"] == "blocked" and float(of(c, "sat")["Error rate"]) == 0.01
    for kind in ("classic", "counting"):
        assert c("BF.RESERVE", f"sat-{kind}", "0.01", "10", "NONSCALING", "SATURATE", "KIND", kind) == "OK"
        assert of(c, f"sat-{kind}")["Kind"] == kind
    keys = [f"s{i}" for i in range(20)]
    assert len(c("BF.MADD", "sat", *keys)) == 20 and c("BF.MEXISTS", "sat", *keys) == [1] * 20
    c("COPY", "sat", "sat2")
    more = [f"t{i}" for i in range(200)]
    for key in ("sat", "sat2"):
        assert all(type(c("BF.ADD", key, k)) is int for k in more[:20])
        assert len(c("BF.MADD", key, *more)) == 200 and c("BF.MEXISTS", key, *keys, *more) == [1] * 220
    assert server.digest(c, "sat") == server.digest(c, "sat2")
    # A scalable one expands as it was told to, or says that it cannot.
    for words, text in [(("EXPANSION", "0"), "ERR KIND scalable cannot have NONSCALING, EXPANSION 0 or SATURATE"),
                        (("NONSCALING",), "ERR KIND scalable cannot have NONSCALING, EXPANSION 0 or SATURATE"),
                        (("SATURATE",), "ERR KIND scalable cannot have NONSCALING, EXPANSION 0 or SATURATE"),
                        (("EXPANSION", "1"), "ERR EXPANSION of KIND scalable must be from 2 to 1024"),
                        (("EXPANSION", "1025"), "ERR EXPANSION of KIND scalable must be from 2 to 1024")]:
        assert c.error("BF.RESERVE", "new", "0.01", "10", "KIND", "scalable", *words) == text, words
    for e in (2, 7, 1024):
        assert c("BF.RESERVE", f"sc{e}", "0.01", "10", "KIND", "scalable", "EXPANSION", e) == "OK"
        assert of(c, f"sc{e}")["Expansion rate"] == e
    # What cannot be made for another reason than its size says which.
    assert "1e-30" in c.error("BF.RESERVE", "new", "1e-30", "10", "KIND", "blocked")
    assert "bf-max-bytes" in c.error("BF.RESERVE", "new", "0.01", "1073741824", "KIND", "counting")


def check_merge(c):
    for a, b, make in [("m1", "m2", ()), ("n1", "n2", ("KIND", "classic", "SEED", "7"))]:
        for key in (a, b):
            assert c("BF.RESERVE", key, "0.01", "1000", *make) == "OK"
        left, right = [f"l{i}" for i in range(300)], [f"r{i}" for i in range(300)]
        both = [f"b{i}" for i in range(100)]
        c("BF.MADD", a, *left, *both)
        c("BF.MADD", b, *right, *both)
        about = {name: [float(x) for x in values] for name, values in flat(c("BF.ESTIMATE", a, b)).items()}
        for name, truth in [("First", 400), ("Second", 400), ("Union", 700), ("Intersection", 100),
                            ("Jaccard", 1 / 7)]:
            value, low, high = about[name]
            assert low <= value <= high and abs(value - truth) < 0.2 * truth, (name, about[name])
        assert c("BF.MERGE", "out-" + a, a, b) == "OK"
        assert c("BF.MEXISTS", "out-" + a, *left, *right, *both) == [1] * 700
        assert sum(c("BF.MEXISTS", "out-" + a, *[f"q{i}" for i in range(1000)])) < 80
        # What is in there already comes in once, however often it is named.
        before, facts = server.dump(c, a), c("BF.INFO", a)
        assert c("BF.MERGE", a, a) == "OK" and c("BF.MERGE", a, a, a) == "OK"
        assert server.dump(c, a) == before and c("BF.INFO", a) == facts
        assert c("BF.MERGE", "again-" + a, a, b, a, b, b) == "OK"
        assert server.dump(c, "again-" + a) == server.dump(c, "out-" + a)
        c("BF.MERGE", "again-" + a, "out-" + a, b)
        assert c("BF.MERGE", a, b, a) == "OK" and c("BF.CARD", a) == c("BF.CARD", "out-" + a)
    # Chained: the destination's newest layer stays the newest, and is where what comes goes.
    for key, n in (("mine", "1000"), ("theirs", "20")):
        c("BF.RESERVE", key, "0.01", n)
        c("BF.MADD", key, *[f"{key}{i}" for i in range(15)])
    c("PEXPIRE", "mine", "1000000")
    assert c("BF.MERGE", "mine", "theirs") == "OK"
    c("BF.MADD", "mine", *[f"later{i}" for i in range(500)])
    assert [int(x[b"capacity"]) for x in layers(c, "mine")] == [20, 1000]
    assert c("PTTL", "mine") > 0
    for first, second in (("m1", "n1"), ("n1", "m1")):
        assert c.error("BF.MERGE", "x", first, second).endswith("RedisBloom's and native filters cannot be merged")
        assert c.error("BF.ESTIMATE", first, second).endswith("RedisBloom's and native filters cannot be compared")
    assert c.error("BF.MERGE", "x", "m1", "none") == "ERR not found"
    assert c.error("BF.MERGE", "x", "m1", "text") == WRONGTYPE
    c("BF.RESERVE", "n3", "0.01", "5000", "KIND", "classic")
    for key, words in [("seed", ("0.01", "1000", "KIND", "blocked", "SEED", "2")),
                       ("size", ("0.01", "9000", "KIND", "blocked", "SEED", "1")),
                       ("kind", ("0.01", "1000", "KIND", "classic", "SEED", "1"))]:
        c("BF.RESERVE", "one", "0.01", "1000", "KIND", "blocked", "SEED", "1")
        c("BF.RESERVE", key, *words)
        for command in (("BF.MERGE", "x", "one", key), ("BF.ESTIMATE", "one", key)):
            said = c.error(*command)
            assert said.startswith(f"ERR the {key}s differ") and "like" not in said, said
            assert said.endswith(": reserve both with the same rate, capacity, KIND and SEED"), said
        c("DEL", "one")
    c.error("BF.MERGE", "x", "n1", "n3")
    assert c("EXISTS", "x") == 0


def growth_of_merged(binary):
    """The destination grows as it did, whatever comes in: one that was reserved by its EXPANSION and rate,
    also after a filter that nobody reserved; and one of those as they do, if it comes with its own rate."""
    with Server(binary=binary) as s:
        c = s.client()
        for key in "mixed", "plain":
            c("BF.RESERVE", key, "0.000001", 100, "EXPANSION", 8)
        c("BF.ADD", "auto", "x")
        c("BF.RESERVE", "reserved", "0.01", 100)
        c("BF.ADD", "reserved", "x")
        c("BF.MERGE", "mixed", "auto")
        c("BF.MERGE", "plain", "reserved")
        assert server.dump(c, "mixed") == server.dump(c, "plain")
        assert c("RESTORE", "mixed", 0, c("DUMP", "mixed"), "REPLACE") == "OK"  # the mark is in what is saved
        for key in "mixed", "plain":
            c("BF.MADD", key, *range(3000))
        assert [int(x[b"capacity"]) for x in layers(c, "mixed")] == [100, 100, 800, 6400]
        assert server.dump(c, "mixed") == server.dump(c, "plain")
        # Two that nobody reserved: by the number of layers, as ever.
        c("BF.MADD", "one", *range(101))
        c("BF.MADD", "two", *range(1000, 1300))
        c("BF.MERGE", "one", "two")
        c("BF.MADD", "one", *range(2000, 16000))
        assert [int(x[b"capacity"]) for x in layers(c, "one")] == [100, 200, 100, 200, 400, 800, 1600, 9600, 38400], \
            layers(c, "one")
        # One with a looser rate does not loosen the layers to come.
        name = "bf.bf-error-rate" if c("CONFIG", "GET", "bf.bf-error-rate") else "bf-error-rate"
        c("CONFIG", "SET", name, "0.1")
        c("BF.ADD", "loose", "x")
        c("CONFIG", "SET", name, "0.01")
        c("BF.ADD", "tight", "y")
        c("BF.MERGE", "tight", "loose")
        c("BF.MADD", "tight", *range(400))
        assert [float(x[b"ratio"]) for x in layers(c, "tight")] == [0.05, 0.005, 0.0025, 0.00125], layers(c, "tight")


def every_command(binary):
    with Server(binary=binary) as s:
        c, c3 = s.client(), s.client(3)
        check_reserve(c)
        check_add_and_ask(c)
        check_full(c)
        check_insert(c)
        check_info(c, c3)
        check_resp3(c3)
        check_chunks(c)
        check_native(c)
        check_arriving(c)
        check_merge(c)
        check_answers(c, c3)
        assert c("EVAL", "return redis.call('bf.add', KEYS[1], 'lua')", 1, "lua") == 1
        assert c("OBJECT", "ENCODING", "a") == b"raw" and c("TYPE", "a") == "MBbloom--"
        assert c("PING") == "PONG"


def commands():
    server.each_server(every_command)
    server.each_server(growth_of_merged)


def many_answers(binary):
    with Server(binary=binary) as s:
        assert "cmdstat_echo" not in server.info(s.client(), "commandstats")  # loading calls no command
        check_answers(s.client(), s.client(protocol=3))


def answers():
    server.each_server(many_answers)


def auto_growth():
    """A filter that made itself: 12 layers at 1e7 items, where RedisBloom has 17 (test_peer.py has their
    sizes); INFO's sizes and the rate it promises hold."""
    total = 10_000_000 if server.SLOW else 600_000
    with Server() as s:
        c = s.client()
        step, added = 1000, 0
        head = b"*%d\r\n$7\r\nBF.MADD\r\n$4\r\nauto\r\n" % (step + 2)
        for start in range(0, total, step):
            c.sock.sendall(head + b"$8\r\n%08d\r\n" * step % tuple(range(start, start + step)))
            lines = [c.file.readline() for _ in range(step + 1)]
            added += lines.count(b":1\r\n")
        facts = of(c, "auto")
        bits = sum(int(x[b"bits"]) for x in layers(c, "auto"))
        assert facts["Number of items inserted"] == added == c("BF.CARD", "auto")
        assert facts["Size"] == 32 + 64 * facts["Number of filters"] + bits // 8, facts
        assert facts["Capacity"] >= added
        print(f"  {total} items: {bits / added:.2f} bits an item, {facts['Number of filters']} layers, "
              f"{added} counted")
        assert facts["Number of filters"] <= 12, facts
        for at in range(0, total, total // 20):
            assert c("BF.MEXISTS", "auto", *[f"{i:08}" for i in range(at, at + 1000)]) == [1] * 1000
        wrong = sum(sum(c("BF.MEXISTS", "auto", *[f"no{i}" for i in range(at, at + 10_000)]))
                    for at in range(0, 200_000, 10_000))
        # A single filter's rate is a matter of chance: its first layer, 100 items in some 1 100 bits, has half of it.
        # From one set of items to another it differs by 0.0006 and more (auto_rate measures that, and the promise).
        assert wrong / 200_000 < 0.01 + 4 * (0.0006 ** 2 + 0.01 * 0.99 / 200_000) ** 0.5, wrong / 200_000


def auto_rate():
    """The rate that filters which made themselves promise is kept on average, before and after they grow in our
    steps and not in RedisBloom's (12 700 items)."""
    with Server() as s:
        c = s.client()
        for items, filters in ((12_700, 30), (300_000, 12)):
            rates = []
            for f in range(filters):
                for at in range(0, items, 1000):
                    c("BF.MADD", f"{items}:{f}", *[f"{f}:{i}" for i in range(at, min(at + 1000, items))])
                rates.append(sum(sum(c("BF.MEXISTS", f"{items}:{f}", *[f"no{i}" for i in range(at, at + 10_000)]))
                                 for at in range(0, 100_000, 10_000)) / 100_000)
            mean, spread = statistics.mean(rates), statistics.stdev(rates)
            print(f"  {items} items: {mean:.3%} in the mean of {filters} filters, which differ by {spread:.3%}")
            assert mean < 0.01 + 3 * spread / filters ** 0.5, rates
            assert spread < 0.001, rates


if __name__ == "__main__":
    server.run([commands, answers, auto_growth, auto_rate])
