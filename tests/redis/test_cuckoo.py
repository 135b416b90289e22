# SPDX-License-Identifier: MIT
"""CF.*: the commands that made RedisBloom's own filters (tests/golden/redisbloom-cf) give the same
replies and the same bytes here; its dumps and chunks load, answer and come back; what must be refused
is refused; replicas and append-only files agree."""
import json

import server
from server import SOURCE, Error, Server

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


def copies_agree():
    with Server() as master, Server() as replica:
        c, r = master.client(), replica.client()
        r("CONFIG", "SET", "bf.cf-bucket-size" if r("CONFIG", "GET", "bf.cf-bucket-size") else "cf-bucket-size", 4)
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


if __name__ == "__main__":
    server.run([same_commands_same_bytes, loads, refusals, replies, copies_agree])
