# SPDX-License-Identifier: MIT
"""Chains of hundreds of layers, as RedisBloom grows them with EXPANSION 1: past the 256 of a native file, and
to the last layer that a rate can be halved for. Everything that is done with a filter is done with these."""
import hashlib
import json
import pathlib
import struct
import tempfile

import server
from server import Server, bloomery
from test_replication import equal, follow

LAST = 1072  # layers, from a rate of 0.25 on: 2^-3 to 2^-1074
KEYS = [f"k{i}" for i in range(2249)]  # to fill them: the others seem to be there
# What RedisBloom's own code (2.4) makes of these keys: layers, keys, SHA-256 of the chunks end to end.
ORIGINAL = {
    300: (590, "9cba4ef5f4bd7e814e0f7d1a0b441e3481dfc640384f10f8fd457834de901693"),
    LAST: (2249, "c9f44c888f68278765dea75c4ade6c432dd4fef6384feeaecc433608031acf51"),
}


def reserve(c, key):
    assert c("BF.RESERVE", key, "0.25", 1, "EXPANSION", 1) == "OK"


def original(c, key, layers):
    """Layers, items, sizes and bits are RedisBloom's."""
    chunks = server.dump(c, key)
    whole = b"".join(data for _, data in chunks)
    assert len(chunks) == 1 + layers and hashlib.sha256(whole).hexdigest() == ORIGINAL[layers][1]
    size = 32 + 64 * layers + len(whole) - (20 + 53 * layers)
    assert c("BF.INFO", key) == ["Capacity", layers, "Size", size, "Number of filters", layers,
                                 "Number of items inserted", layers, "Expansion rate", 1]
    lines = c("BF.DEBUG", key)
    assert len(lines) == 1 + layers and lines[0] == b"size:%d" % layers
    for i, line in enumerate(lines[1:]):
        bytes_, bits, _, _, _, hashes, entries, _ = struct.unpack_from("<QQQddIQB", whole, 20 + 53 * i)
        assert line == b"bytes:%d bits:%d hashes:%d hashwidth:64 capacity:%d size:1 ratio:%s" % (
            bytes_, bits, hashes, entries, b"%g" % 2.0 ** (-3 - i)), line
    return chunks


def grows_as_the_original():
    with Server() as s:
        c = s.client()
        for layers, (keys, _) in ORIGINAL.items():
            reserve(c, f"many-{layers}")
            news = c("BF.MADD", f"many-{layers}", *KEYS[:keys])
            assert sum(news) == layers and set(news) == {0, 1}
            reserve(c, f"one-{layers}")
            assert c.many([["BF.ADD", f"one-{layers}", k] for k in KEYS[:keys]]) == news
            reserve(c, f"insert-{layers}")
            for at in range(0, keys, 37):
                c("BF.INSERT", f"insert-{layers}", "NOCREATE", "ITEMS", *KEYS[at:min(at + 37, keys)])
            for how in ("many", "one", "insert"):
                original(c, f"{how}-{layers}", layers)
                assert all(c("BF.MEXISTS", f"{how}-{layers}", *KEYS[:keys]))
                assert c.many([["BF.EXISTS", f"{how}-{layers}", k] for k in KEYS[:keys]]) == [1] * keys


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
        for layers, (keys, _) in ORIGINAL.items():
            reserve(c, f"k{layers}")
            c("BF.MADD", f"k{layers}", *KEYS[:keys])
        whole = {layers: original(c, f"k{layers}", layers) for layers in ORIGINAL}
        c = s.restart(server.signal.SIGKILL)  # the append-only file: commands
        for layers in ORIGINAL:
            assert original(c, f"k{layers}", layers) == whole[layers]
        c("BGREWRITEAOF")
        server.until("the rewrite", lambda: server.info(c, "persistence")["aof_rewrite_in_progress"] == "0")
        assert server.info(c, "persistence")["aof_last_bgrewrite_status"] == "ok"
        c = s.restart()  # … and chunks
        for layers in ORIGINAL:
            assert original(c, f"k{layers}", layers) == whole[layers]
    with Server() as s, Server() as other:
        c, d = s.client(), other.client()
        for layers in ORIGINAL:
            server.load(c, f"k{layers}", whole[layers])
            original(c, f"k{layers}", layers)
            assert d("RESTORE", f"k{layers}", 0, c("DUMP", f"k{layers}")) == "OK"
            original(d, f"k{layers}", layers)
            assert server.digest(c, f"k{layers}") == server.digest(d, f"k{layers}")
            assert c("COPY", f"k{layers}", "copy") == 1
            original(c, "copy", layers)
            assert c("MEMORY", "USAGE", "copy") > sum(len(data) for _, data in whole[layers][1:])
            assert c("DEL", "copy") == 1
        assert c("SAVE") == "OK"
        c = s.restart()
        for layers in ORIGINAL:
            original(c, f"k{layers}", layers)
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
        for layers in (1073, 1075, 1076, 1100, 4096, 2 ** 31, 2 ** 32 - 1):
            claim = header[:8] + struct.pack("<I", layers) + header[12:]
            assert c.error("BF.LOADCHUNK", "no", 1, claim) == "ERR received bad data"
        padded = header[:8] + struct.pack("<I", 1076) + header[12:] + header[-53:] * 4
        assert c.error("BF.LOADCHUNK", "no", 1, padded) == "ERR received bad data"
        payload = c("DUMP", "k")[:-10]
        at = payload.index(b"\x02" + bytes([0x40 | LAST >> 8, LAST & 255]))
        for layers in (1071, 1073, 1076, 16383):
            changed = payload[:at + 1] + bytes([0x40 | layers >> 8, layers & 255]) + payload[at + 3:]
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
