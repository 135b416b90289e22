# SPDX-License-Identifier: MIT
"""Chains of hundreds of links, as RedisBloom grows them with EXPANSION 1: past the 256 of a native file, and
to the last link that a rate can be halved for. Everything that is done with a filter is done with these."""
import hashlib
import json
import pathlib
import struct
import tempfile

import server
from server import Server, bloomery
from test_replication import equal, follow

LAST = 1072  # links, from a rate of 0.25 on: 2^-3 to 2^-1074
KEYS = [f"k{i}" for i in range(2249)]  # to fill them: the others seem to be there
# What RedisBloom's own code (2.4) makes of these keys: links, keys, SHA-256 of the chunks end to end.
ORIGINAL = {
    300: (590, "9cba4ef5f4bd7e814e0f7d1a0b441e3481dfc640384f10f8fd457834de901693"),
    LAST: (2249, "c9f44c888f68278765dea75c4ade6c432dd4fef6384feeaecc433608031acf51"),
}


def reserve(c, key):
    assert c("BF.RESERVE", key, "0.25", 1, "EXPANSION", 1) == "OK"


def original(c, key, links):
    """Links, items, sizes and bits are RedisBloom's."""
    chunks = server.dump(c, key)
    whole = b"".join(data for _, data in chunks)
    assert len(chunks) == 1 + links and hashlib.sha256(whole).hexdigest() == ORIGINAL[links][1]
    size = 32 + 64 * links + len(whole) - (20 + 53 * links)
    assert c("BF.INFO", key) == ["Capacity", links, "Size", size, "Number of filters", links,
                                 "Number of items inserted", links, "Expansion rate", 1]
    lines = c("BF.DEBUG", key)
    assert len(lines) == 1 + links and lines[0] == b"size:%d" % links
    for i, line in enumerate(lines[1:]):
        bytes_, bits, _, _, _, hashes, entries, _ = struct.unpack_from("<QQQddIQB", whole, 20 + 53 * i)
        assert line == b"bytes:%d bits:%d hashes:%d hashwidth:64 capacity:%d size:1 ratio:%s" % (
            bytes_, bits, hashes, entries, b"%g" % 2.0 ** (-3 - i)), line
    return chunks


def grows_as_the_original():
    with Server() as s:
        c = s.client()
        for links, (keys, _) in ORIGINAL.items():
            reserve(c, f"many-{links}")
            news = c("BF.MADD", f"many-{links}", *KEYS[:keys])
            assert sum(news) == links and set(news) == {0, 1}
            reserve(c, f"one-{links}")
            assert c.many([["BF.ADD", f"one-{links}", k] for k in KEYS[:keys]]) == news
            reserve(c, f"insert-{links}")
            for at in range(0, keys, 37):
                c("BF.INSERT", f"insert-{links}", "NOCREATE", "ITEMS", *KEYS[at:min(at + 37, keys)])
            for how in ("many", "one", "insert"):
                original(c, f"{how}-{links}", links)
                assert all(c("BF.MEXISTS", f"{how}-{links}", *KEYS[:keys]))
                assert c.many([["BF.EXISTS", f"{how}-{links}", k] for k in KEYS[:keys]]) == [1] * keys


def after_the_last():
    with Server() as s:
        c = s.client()
        for rate, last in (("0.25", LAST), ("0.01", 1067), ("1e-5", 1057), ("1e-300", 78), ("1e-323", 1)):
            key = "k" + rate
            c("BF.RESERVE", key, rate, 1, "EXPANSION", 1)
            answers = c("BF.MADD", key, *range(5000))
            errors = [a for a in answers if isinstance(a, server.Error)]
            # One for each that is new and has no room, and an answer for each that seems to be there.
            assert len(answers) == 5000 and sum(a == 1 for a in answers if not isinstance(a, server.Error)) == last
            assert errors and {str(e) for e in errors} == {"ERR problem inserting into filter"}
            assert c("BF.INFO", key, "FILTERS") == [last] and c("BF.CARD", key) == last
            new = next(i for i, a in enumerate(answers) if isinstance(a, server.Error))
            assert c.error("BF.ADD", key, new) == "ERR problem inserting into filter"
            assert c("BF.EXISTS", key, new) == 0 and c("BF.ADD", key, 0) == 0
            assert c("BF.INFO", key, "FILTERS") == [last]


def kept_and_moved():
    with Server(("appendonly", "yes"), ("appendfsync", "always"), ("aof-use-rdb-preamble", "no")) as s:
        c = s.client()
        for links, (keys, _) in ORIGINAL.items():
            reserve(c, f"k{links}")
            c("BF.MADD", f"k{links}", *KEYS[:keys])
        whole = {links: original(c, f"k{links}", links) for links in ORIGINAL}
        c = s.restart(server.signal.SIGKILL)  # the append-only file: commands
        for links in ORIGINAL:
            assert original(c, f"k{links}", links) == whole[links]
        c("BGREWRITEAOF")
        server.until("the rewrite", lambda: server.info(c, "persistence")["aof_rewrite_in_progress"] == "0")
        assert server.info(c, "persistence")["aof_last_bgrewrite_status"] == "ok"
        c = s.restart()  # … and chunks
        for links in ORIGINAL:
            assert original(c, f"k{links}", links) == whole[links]
    with Server() as s, Server() as other:
        c, d = s.client(), other.client()
        for links in ORIGINAL:
            server.load(c, f"k{links}", whole[links])
            original(c, f"k{links}", links)
            assert d("RESTORE", f"k{links}", 0, c("DUMP", f"k{links}")) == "OK"
            original(d, f"k{links}", links)
            assert server.digest(c, f"k{links}") == server.digest(d, f"k{links}")
            assert c("COPY", f"k{links}", "copy") == 1
            original(c, "copy", links)
            assert c("MEMORY", "USAGE", "copy") > sum(len(data) for _, data in whole[links][1:])
            assert c("DEL", "copy") == 1
        assert c("SAVE") == "OK"
        c = s.restart()
        for links in ORIGINAL:
            original(c, f"k{links}", links)
        c("BF.MADD", "k300", *KEYS)  # a chain that was loaded goes on as one that was not
        original(c, "k300", LAST)


def a_replica_too():
    with Server(("repl-diskless-sync-delay", "0")) as master, Server() as replica:
        m = master.client()
        reserve(m, "before")
        m("BF.MADD", "before", *KEYS[:590])
        r = follow(replica, master)
        reserve(m, "after")
        m("BF.MADD", "after", *KEYS)
        m("BF.MADD", "before", *KEYS)
        failed = m("BF.MADD", "before", KEYS[0], "new-1", "new-2", "new-3")
        assert any(isinstance(a, server.Error) for a in failed)
        server.load(m, "chunks", server.dump(m, "after"))
        equal(m, r)
        for key in ("before", "after", "chunks"):
            original(r, key, LAST)


def merged():
    with Server() as s:
        c = s.client()
        for name, keys in (("a", KEYS[:590]), ("b", KEYS[590:1200]), ("end", KEYS)):
            reserve(c, name)
            c("BF.MADD", name, *keys)
        assert c("BF.MERGE", "both", "a", "b") == "OK"
        assert c("BF.INFO", "both", "FILTERS") == [300 + c("BF.CARD", "b")]
        assert all(c("BF.MEXISTS", "both", *KEYS[:1200]))
        assert c.error("BF.MERGE", "more", "end", "a") == "ERR the merged filter would have too many layers"
        assert c("EXISTS", "more") == 0


def headers_that_only_claim():
    with Server() as s:
        c = s.client()
        reserve(c, "k")
        c("BF.MADD", "k", *KEYS)
        header = server.dump(c, "k")[0][1]
        for links in (1073, 1075, 1076, 1100, 4096, 2 ** 31, 2 ** 32 - 1):
            claim = header[:8] + struct.pack("<I", links) + header[12:]
            assert c.error("BF.LOADCHUNK", "no", 1, claim) == "ERR received bad data"
        padded = header[:8] + struct.pack("<I", 1076) + header[12:] + header[-53:] * 4
        assert c.error("BF.LOADCHUNK", "no", 1, padded) == "ERR received bad data"
        payload = c("DUMP", "k")[:-10]
        at = payload.index(b"\x02" + bytes([0x40 | LAST >> 8, LAST & 255]))
        for links in (1071, 1073, 1076, 16383):
            changed = payload[:at + 1] + bytes([0x40 | links >> 8, links & 255]) + payload[at + 3:]
            assert c.error("RESTORE", "no", 0, server.payload_of(changed)) == "ERR Bad data format"
        assert c("EXISTS", "no") == 0 and c("PING") == "PONG"


def by_the_command_line():
    with Server() as s, tempfile.TemporaryDirectory() as where:
        c = s.client()
        home = pathlib.Path(where)
        (home / "keys").write_text("".join(k + "\n" for k in KEYS))
        reserve(c, "k")
        c("BF.MADD", "k", *KEYS)
        whole = b"".join(data for _, data in original(c, "k", LAST))
        ref = f"redis://127.0.0.1:{s.port}/"
        bloomery("convert", ref + "k", home / "pulled", "--to", "redisbloom")
        assert (home / "pulled").read_bytes() == whole
        bloomery("convert", home / "pulled", ref + "pushed", "--to", "redisbloom")
        original(c, "pushed", LAST)
        bloomery("convert", home / "pulled", home / "dump", "--to", "redisbloom-dump")
        assert (home / "dump").read_bytes() == c("DUMP", "k")
        for f in (home / "pulled", home / "dump", ref + "k"):
            out, _ = bloomery("check", "-c", f, home / "keys")
            assert out == b"2249\n"
            facts = json.loads(bloomery("info", "--json", f)[0])
            assert len(facts["layers"]) == LAST and facts["items"] == LAST
        # A native file, or a native key, has room for 256.
        _, err = bloomery("convert", home / "pulled", home / "native", "--to", "native", code=2)
        assert "room for 256 layers" in err and "redisbloom" in err, err
        _, err = bloomery("convert", home / "pulled", ref + "native", "--to", "native", code=2)
        assert "room for 256 layers" in err and "redisbloom" in err, err
        assert not (home / "native").exists() and c("EXISTS", "native") == 0


if __name__ == "__main__":
    server.run([grows_as_the_original, after_the_last, kept_and_moved, a_replica_too, merged,
                headers_that_only_claim, by_the_command_line])
