# SPDX-License-Identifier: MIT
"""Filters that RedisBloom itself wrote (tests/golden/redisbloom): DUMP payloads of every encoding and
SCANDUMP chunks load here, answer as there, and come back byte for byte; the same commands make the
same bytes; what the peer must refuse is refused; whole RDB and AOF files made of them load."""
import json
import math
import struct

import server
from server import GOLDEN, Server, crc64

TYPE = 7


def vectors():
    return sorted(p for p in GOLDEN.iterdir() if (p / "chunk0.bin").exists())


def lines_of(path, meta):
    """The lines of a list of keys, and how a key is written there; the empty line is the empty key."""
    lines = path.read_bytes().split(b"\n")[:-1]
    if meta["key_encoding"] == "hex":
        return [line for line in lines if not line.startswith(b"#")], lambda x: bytes.fromhex(x.decode())
    return lines, bytes


def keys_of(path, meta):
    lines, decode = lines_of(path / "members.txt", meta)
    return [decode(line) for line in lines]


def probes(path, meta):
    lines, decode = lines_of(path / "probes.tsv", meta)
    for line in lines:
        key, answer = line.rsplit(b"\t", 1)
        yield decode(key), int(answer)


def chunks_of(path):
    out = []
    for line in (path / "scandump.tsv").read_text().splitlines():
        if not line.startswith("#"):
            _, at, name, _ = line.split("\t")
            if int(at):
                out.append((int(at), (path / name).read_bytes()))
    return out


def ask(c, key, path, meta):
    asked = list(probes(path, meta))
    for at in range(0, len(asked), 500):
        part = asked[at:at + 500]
        got = c("BF.MEXISTS", key, *[k for k, _ in part])
        for (k, want), have in zip(part, got):
            assert have == want, (path.name, k, want, have)


def words_of(c, key):
    """BF.DEBUG and BF.INFO as they stand in meta.json."""
    return [x.decode() for x in c("BF.DEBUG", key)], c("BF.INFO", key)


def loads():
    with Server() as s:
        c = s.client()
        for path in vectors():
            meta = json.loads((path / "meta.json").read_text())
            chunks = chunks_of(path)
            server.load(c, "by-chunks", chunks)
            assert server.dump(c, "by-chunks") == chunks, path.name
            ask(c, "by-chunks", path, meta)
            names = sorted(p.name for p in path.glob("dump*.bin"))
            for name in names:
                payload = (path / name).read_bytes()
                assert c("RESTORE", "by-dump", 0, payload) == "OK", (path.name, name)
                assert server.dump(c, "by-dump") == chunks, (path.name, name)
                assert server.digest(c, "by-dump") == server.digest(c, "by-chunks"), (path.name, name)
                ask(c, "by-dump", path, meta)
                if name == "dump.bin":
                    # Redis 7.0 wrote these: what it writes now differs in nothing.
                    assert c("DUMP", "by-dump") == payload, path.name
                if "BF_DEBUG" in meta:
                    debug, info = words_of(c, "by-dump")
                    assert debug == meta["BF_DEBUG"], (path.name, debug)
                    assert info == meta["BF_INFO"], (path.name, info)
                    assert c("BF.CARD", "by-dump") == meta["BF_CARD"]
                c("DEL", "by-dump")
            c("DEL", "by-chunks")
            print(f"  {path.name}: {len(chunks)} chunks, {', '.join(names)}")


def same_commands_same_bytes():
    """Explicit parameters reproduce the peer's geometry and bits exactly."""
    made = 0
    with Server() as s:
        c = s.client()
        for path in vectors():
            meta = json.loads((path / "meta.json").read_text())
            if not meta["reserve"][0].isdigit():  # made by itself, or crafted
                continue
            c("BF.RESERVE", path.name, *meta["reserve"].split())
            for key in keys_of(path, meta):
                c("BF.ADD", path.name, key)
            assert server.dump(c, path.name) == chunks_of(path), path.name
            made += 1
    assert made >= 10, made
    print(f"  {made} filters made anew")


def refusals():
    with Server() as s:
        c = s.client()
        before = server.info(c, "bf_filters")
        count = 0
        for line in (GOLDEN / "bad" / "REASONS.tsv").read_text().splitlines():
            if line.startswith("#"):
                continue
            name, _, why, _ = line.split("\t")
            data = (GOLDEN / "bad" / name).read_bytes()
            if name.startswith("hdr"):
                assert c.error("BF.LOADCHUNK", "bad", 1, data) == "ERR received bad data", (name, why)
            else:
                c.error("RESTORE", "bad", 0, data)
            assert c("EXISTS", "bad") == 0 and c("PING") == "PONG", name
            count += 1
        assert count > 15 and before["bf_filters"] == "0"
        # Chunks at places where they do not belong, as the peer answered them.
        header = (GOLDEN / "overfilled" / "chunk0.bin").read_bytes()
        for line in (GOLDEN / "bad" / "LOADCHUNK-ERRORS.tsv").read_text().splitlines():
            if line.startswith("#"):
                continue
            case, at, size, _, reply = line.split("\t")
            c("DEL", "bad")
            if case != "data-first":
                c("BF.LOADCHUNK", "bad", 1, header)
            (got,) = c.many([["BF.LOADCHUNK", "bad", at, b"\xff" * int(size)]])
            if reply.startswith("ERROR: "):
                assert str(got) == reply[7:], (case, got, reply)
            else:
                assert got == "OK", (case, got, reply)


def of_version_1():
    """RedisBloom 1.x and 2.0: a header without growth, and layers that say only the power of two. RedisBloom
    has refused them since 2.4.23, and so do we, by chunk and by RESTORE."""
    with Server() as s:
        c = s.client()
        front = struct.pack("<QII", 1, 1, 0)
        bpe = abs(math.log(0.01) / 0.480453013918201)
        layer = struct.pack("<QQQddIIB", 128, 0, 1, 0.01, bpe, 7, 106, 10)
        assert c.error("BF.LOADCHUNK", "old", 1, front + layer) == "ERR received bad data"
        head = struct.pack("<QIII", 1, 1, 0, 2) + struct.pack("<QQQddIQB", 128, 0, 1, 0.01, bpe, 7, 106, 10)
        assert c.error("RESTORE", "old", 0, dump_of(head)) == "ERR Bad data format"
        assert "RedisBloom 1.x or 2.0 wrote it" in s.log()
        assert c("EXISTS", "old") == 0


def sums_that_overflow():
    with Server() as s:
        c = s.client()
        c("BF.RESERVE", "k", "0.01", 100)
        c("BF.MADD", "k", *range(150))
        head = bytearray(server.dump(c, "k")[0][1])
        for i, items in enumerate((2 ** 64 - 1, 145)):
            struct.pack_into("<Q", head, 20 + 53 * i + 16, items)
        struct.pack_into("<Q", head, 0, 144)
        assert c.error("BF.LOADCHUNK", "no", 1, bytes(head)) == "ERR received bad data"


def larger_than_the_target_allows():
    with Server() as s, Server() as target:
        c, t = s.client(), target.client()
        (cap,) = t("CONFIG", "GET", "*bf-max-bytes")[::2]
        t("CONFIG", "SET", cap, 1 << 20)
        c("BF.RESERVE", "chain", "0.01", 2_000_000)
        c("BF.RESERVE", "native", "0.01", 2_000_000, "KIND", "blocked")
        for key in ("chain", "native"):
            was = len(target.log())
            assert "Bad data format" in c.error("MIGRATE", "127.0.0.1", target.port, key, 0, 5000)
            assert "bf-max-bytes" in target.log()[was:], target.log()[was:]
            assert c("EXISTS", key) == 1
        t("CONFIG", "SET", cap, 1 << 30)
        for key in ("chain", "native"):
            assert c("MIGRATE", "127.0.0.1", target.port, key, 0, 5000) == "OK" and t("EXISTS", key) == 1


def header(items=0, options=5, growth=2, **layer):
    """A header of one layer, as BF.RESERVE 0.01 100 makes it but for what is said."""
    f = {"bytes": 144, "bits": 1152, "items": items, "error": 0.005, "bpe": 11.02774, "hashes": 8,
         "entries": 100, "n2": 0, **layer}
    f["bpe"] = layer.get("bpe", abs(math.log(f["error"]) / 0.480453013918201) if f["error"] > 0 else 1.0)
    return struct.pack("<QIII", items, 1, options, growth) + struct.pack(
        "<QQQddIQB", *(f[k] for k in ("bytes", "bits", "items", "error", "bpe", "hashes", "entries", "n2")))


def dump_of(head):
    """The same filter as a DUMP payload."""
    items, layers, options, growth = struct.unpack("<QIII", head[:20])
    size, bits, layer_items, error, bpe, hashes, entries, n2 = struct.unpack("<QQQddIQB", head[20:])
    number = lambda v: b"\x02\x81" + struct.pack(">Q", v)
    real = lambda v: b"\x04" + struct.pack("<d", v)
    name = (GOLDEN / "overfilled" / "dump.bin").read_bytes()[:10]
    body = name + b"".join(map(number, (items, layers, options, growth))) + number(entries) + real(error) + \
        number(hashes) + real(bpe) + number(bits) + number(n2) + b"\x05\x81" + struct.pack(">Q", size) + \
        bytes(size) + number(layer_items) + b"\0"
    return server.payload_of(body)


def geometry():
    """Sizes are recomputed from capacity and rate, whoever says them; what does not follow is refused, and
    what is taken is a filter that works."""
    with Server() as s:
        c = s.client()
        c("BF.RESERVE", "made", "0.01", "100")
        assert c("BF.SCANDUMP", "made", 0)[1] == header()
        assert c("RESTORE", "same", 0, dump_of(header())) == "OK"
        assert server.dump(c, "same") == server.dump(c, "made")
        nan = float("nan")
        for bad in ({"bytes": 288, "bits": 2304}, {"bytes": 152, "bits": 1216}, {"bytes": 136, "bits": 1088},
                    {"entries": 101 * 100}, {"entries": 90}, {"entries": 0}, {"entries": 2 ** 63}, {"error": 0.003},
                    {"error": nan, "bpe": 11.02774}, {"bpe": nan}, {"bpe": 11.5}, {"bpe": float("inf")},
                    {"error": 0.005, "bpe": -11.02774}, {"hashes": 9}, {"hashes": 0}, {"n2": 11}, {"n2": 64},
                    {"items": 2 ** 63, "growth": 2}, {"options": 16}):
            head = header(**bad)
            if "items" in bad:
                head = header(items=0, **{k: v for k, v in bad.items() if k != "items"})
                head = head[:36] + struct.pack("<Q", bad["items"]) + head[44:]
            assert c.error("BF.LOADCHUNK", "bad", 1, head) == "ERR received bad data", bad
            assert c.error("RESTORE", "bad", 0, dump_of(head)) == "ERR Bad data format", bad
            assert c("EXISTS", "bad") == 0
        # Odd but possible: no growth said, a filter fuller than its plan.
        for i, odd in enumerate(({"growth": 0}, {"growth": 1}, {"growth": 2 ** 32 - 1}, {"items": 5000})):
            (first,) = c.many([["BF.LOADCHUNK", f"odd{i}", 1, header(**odd)]])
            (second,) = c.many([["RESTORE", f"odder{i}", 0, dump_of(header(**odd))]])
            assert isinstance(first, server.Error) == isinstance(second, server.Error), (odd, first, second)
            if first == "OK":
                reply = c("BF.MADD", f"odd{i}", *range(1000))
                kept = [k for k, r in enumerate(reply) if not isinstance(r, server.Error)]
                assert c("BF.MEXISTS", f"odd{i}", *kept) == [1] * len(kept), odd


def odd_arrays():
    """Versions that rounded to bytes left arrays that do not end with a word. They are united, joined and
    compared as others are, and every byte comes along."""
    with Server() as s:
        c = s.client()
        seen = set()
        for entries in range(100, 140):
            bits = int(entries * abs(math.log(0.005) / 0.480453013918201))
            size = (bits + 7) // 8
            if size % 8 in seen:
                continue
            seen.add(size % 8)
            head = header(bytes=size, bits=bits, entries=entries)
            for name in "ab":
                assert c("BF.LOADCHUNK", name, 1, head) == "OK"
                c("BF.MADD", name, *(f"{name}{i}" for i in range(40)))
            c("BF.ADD", "whole", "w")
            array = {name: server.dump(c, name)[1][1] for name in ("a", "b", "whole")}
            assert len(array["a"]) == size
            assert c("BF.DEBUG", "a")[1].startswith(b"bytes:%d bits:%d hashes:8 " % (size, bits)), c("BF.DEBUG", "a")
            assert c("BF.INFO", "a", "SIZE") == [32 + 64 + size]
            union = dict(zip(*[iter(c("BF.ESTIMATE", "a", "b"))] * 2))["Union"]
            assert 70 < float(union[0]) < 90, (size, union)
            assert c("BF.MERGE", "new", "a") == "OK" and server.dump(c, "new") == server.dump(c, "a")
            assert c("BF.MERGE", "joined", "whole", "a") == "OK" and c("BF.MERGE", "a", "b") == "OK"
            assert [data for _, data in server.dump(c, "joined")[1:]] == [array["a"], array["whole"]]
            assert server.dump(c, "a")[1][1] == bytes(x | y for x, y in zip(array["a"], array["b"]))
            assert c("BF.CARD", "a") == 80 and c("BF.CARD", "joined") == 41
            before = server.dump(c, "joined")
            assert c("RESTORE", "joined", 0, c("DUMP", "joined"), "REPLACE") == "OK"
            assert server.dump(c, "joined") == before
            c("FLUSHALL")
        assert seen == set(range(8)), seen


def rdb_of(values):
    """An RDB file of a Redis 7.0 with these keys: {name: DUMP payload}."""
    body = b"REDIS0010" + b"\xfe\x00" + b"\xfb" + bytes([len(values), 0])
    for name, payload in values.items():
        value = payload[1:-10]  # without the type, the RDB version and the checksum
        body += bytes([TYPE, len(name)]) + name.encode() + value
    body += b"\xff"
    return body + struct.pack("<Q", crc64(body))


def aof_of(values):
    return b"".join(server.Client.pack("BF.LOADCHUNK", name, at, data)
                    for name, chunks in values.items() for at, data in chunks)


def files():
    """An RDB and an AOF, old encodings among them, as a server finds them when it starts."""
    dumps = {f"{p.name}:{d.stem}": d.read_bytes() for p in vectors() for d in sorted(p.glob("dump*.bin"))}
    dumps = {name[:60]: payload for name, payload in dumps.items()}
    # What RedisBloom takes from a client, and so writes down, though no manual says it.
    sloppy = [("BF.RESERVE", "junk", "0.001", "100", "JUNK"), ("BF.ADD", "junk", "a"),
              ("bf.insert", "short", "cap", "50", "er", "0.002", "ex", "3", "i", "a", "nocreate"),
              ("BF.INSERT", "short", "noc", "Item", "b"), ("BF.INSERT", "still", "N", "I", "a"),
              ("BF.RESERVE", "twice", "0.01", "100", "EXPANSION", "3", "EXPANSION")]
    first = Server()
    with first:
        first.stop()
        (first.directory / "dump.rdb").write_bytes(rdb_of(dumps))
        first.start()
        c = first.client()
        assert c("DBSIZE") == len(dumps)
        for p in vectors():
            for d in sorted(p.glob("dump*.bin")):
                assert server.dump(c, f"{p.name}:{d.stem}"[:60]) == chunks_of(p), d
    with Server(("appendonly", "yes"), ("appendfilename", "a.aof")) as second:
        second.stop()
        (base,) = [f for f in (second.directory / "appendonlydir").iterdir() if ".incr." in f.name]
        base.write_bytes(aof_of({p.name: chunks_of(p) for p in vectors()}) + b"".join(
            server.Client.pack(*words) for words in sloppy))
        second.start()
        c = second.client()
        for p in vectors():
            assert server.dump(c, p.name) == chunks_of(p), p.name
        assert c("BF.EXISTS", "junk", "a") == 1 and b"ratio:0.0005" in c("BF.DEBUG", "junk")[1]
        assert c("BF.MEXISTS", "short", "a", "b", "nocreate", "q") == [1, 1, 1, 0]
        assert b"capacity:50" in c("BF.DEBUG", "short")[1] and c("BF.INFO", "short", "EXPANSION") == [3]
        assert c("BF.INFO", "still", "EXPANSION") == [None] and c("BF.INFO", "twice", "EXPANSION") == [3]
        for words in sloppy[0], *sloppy[2:]:  # a client is told
            assert "nknown argument" in c.error(words[0], "new", *words[2:]), words
    # A file that is cut or has a flipped bit inside a filter: refused with words in the log.
    damaged = bytearray(rdb_of(dumps))
    damaged[60] ^= 0x40
    damaged[-8:] = struct.pack("<Q", 0)  # the file's own checksum is switched off
    third = Server()
    with third:
        third.stop()
        for bad in (bytes(damaged), rdb_of(dumps)[:len(rdb_of(dumps)) // 2]):
            (third.directory / "dump.rdb").write_bytes(bad)
            try:
                third.start()
                raise SystemExit("a damaged RDB was loaded")
            except AssertionError:
                assert third.process.returncode not in (-11, -6), third.log()
            (third.directory / "dump.rdb").unlink()
        third.start()


if __name__ == "__main__":
    server.run([loads, same_commands_same_bytes, refusals, geometry, odd_arrays, files, of_version_1,
                sums_that_overflow, larger_than_the_target_allows])
