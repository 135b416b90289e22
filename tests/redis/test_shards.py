# SPDX-License-Identifier: MIT
"""One filter spread over a cluster: where its shards are, which key goes to which, and what the command
line does with it; then clients that add while a slot moves, a master dies and comes back."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

import server
from cluster import Cluster
from server import BLOOMERY, bloomery

SHARDS = 12
LONG = os.environ.get("BLM_LONG") == "1"  # make test-cluster
KEYS = 4_300_000 if LONG else 60_000  # of each client, of which there are three; 10^7 in all

def siphash24(key, data):
    """As its authors describe it."""
    mask = (1 << 64) - 1
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rotl(x, b):
        return (x << b | x >> (64 - b)) & mask

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        m = int.from_bytes(padded[at:at + 8], "little")
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]

def crc16(data):
    crc = 0
    for b in data:
        crc ^= b << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
    return crc

def shard_keys(name, descriptor):
    """The keys of a filter's shards, from docs/scale.md alone."""
    facts = dict(x.split(b"=") for x in descriptor.split()[2:])
    shards = int(facts[b"shards"])
    wanted = {(2 * i + 1) * 8192 // shards: i for i in range(shards)}
    tags, n = [None] * shards, 0
    while wanted:
        i = wanted.pop(crc16(b"%d" % n) % 16384, None)
        if i is not None:
            tags[i] = n
        n += 1
    seed = int(facts[b"seed"], 16).to_bytes(16, "little")
    return [b"{%d}%s.%s" % (t, name, facts[b"id"]) for t in tags], seed

def examples():
    """The page's examples are what its rules give."""
    page = (server.SOURCE / "docs/scale.md").read_text()
    descriptor = re.search(r"^bloomery-shards 1 .*$", page, re.M)[0].encode()
    keys, seed = shard_keys(b"visited", descriptor)
    assert seed == bytes(range(16)) and crc16(b"123456789") == 0x31c3
    tags = [x[1:x.index(b"}")].decode() for x in keys]
    assert "the tags are " + ", ".join(tags) in re.sub(r"\s+", " ", page), tags
    assert f"`{keys[0].decode()}`" in page, keys[0]
    shown = re.findall(r"^\| (\S.*) \| ([0-9a-f]{16}) \| (\d+) \|$", page, re.M)
    assert len(shown) == 4, shown
    for name, digest, shard in shown:
        item = {"(empty)": b"", "bytes 00 01 … 0e": bytes(range(15))}.get(name, name.strip("`").encode())
        h = siphash24(seed, item)
        assert (f"{h:016x}", h * 12 >> 64) == (digest, int(shard)), (name, hex(h))

def lines(start, count):
    return b"".join(b"https://example.com/%d\n" % i for i in range(start, start + count))

def rules(k, ref):
    """Names, slots and routes are as documented; the shards are even over the masters."""
    examples()
    name = b"a{b}c/d"
    out, err = bloomery("create", ref + "a%7Bb%7Dc/d?shards=12", "-n", "50000", "-p", "0.001")
    assert "50,000 keys at a rate of 0.1%" in err and "in 12 shards" in err, err
    text = k.call("GET", name)
    assert text.startswith(b"bloomery-shards 1 shards=12 route=siphash24 seed="), text
    keys, seed = shard_keys(name, text)
    owners = [min(k.slot(x) // 5461, 2) for x in keys]
    assert [owners.count(i) for i in range(3)] == [4, 4, 4], owners
    assert [k.slot(x) for x in keys] == [(2 * i + 1) * 8192 // 12 for i in range(12)]
    sizes = {k.call("BF.INFO", x, "CAPACITY")[0] for x in keys}
    assert len(sizes) == 1 and 50000 / 12 < sizes.pop() < 50000 / 12 * 1.2
    _, err = bloomery("add", ref + "a%7Bb%7Dc/d", stdin=lines(0, 2000))
    assert "2,000 keys added, " in err and "--wait 1" in err, err
    for i in range(0, 2000, 40):
        item = b"https://example.com/%d" % i
        shard = siphash24(seed, item) * 12 >> 64
        assert k.call("BF.EXISTS", keys[shard], item) == 1, (i, shard)
    counts = [k.call("BF.CARD", x) for x in keys]
    assert sum(counts) >= 1990 and min(counts) > 100 and max(counts) < 250, counts
    return name

def whole(k, ref):
    """info, verify, create --like and merge."""
    bloomery("create", ref + "a?shards=5", "-n", "20000", "-p", "0.01")
    bloomery("create", ref + "b?shards=5", "--like", ref + "a")
    bloomery("add", ref + "a", stdin=lines(0, 8000))
    bloomery("add", ref + "b", stdin=lines(6000, 6000))
    bloomery("merge", ref + "both", ref + "a", ref + "b")
    assert bloomery("check", "-c", ref + "both", stdin=lines(0, 12000))[0] == b"12000\n"
    _, err = bloomery("merge", ref + "both", ref + "a", ref + "b", code=2)
    assert "already exists" in err, err
    bloomery("create", ref + "other?shards=5", "-n", "20000", "-p", "0.01")
    _, err = bloomery("merge", ref + "wrong", ref + "a", ref + "other", code=2)
    assert "--like" in err and k.call("EXISTS", "wrong") == 0, err
    facts = json.loads(bloomery("info", "--json", ref + "both")[0])
    assert len(facts["shards"]) == 5 and facts["capacity"] == 20000, facts
    assert abs(facts["estimated"]["value"] - 12000) < 400 and 0 < facts["rate_now"] < 0.01, facts
    out, _ = bloomery("info", ref + "both")
    assert b"in 5 shards" in out and b"20,000 keys at a rate of 1%" in out, out
    keys = pathlib.Path(tempfile.mkstemp()[1])
    keys.write_bytes(lines(0, 12000))
    out, _ = bloomery("verify", ref + "both", "--members", keys, "--trials", "100000")
    assert b"all of them found" in out and b"holds: 1%" in out, out
    keys.write_bytes(lines(10**6, 1000))
    out, _ = bloomery("verify", ref + "both", "--members", keys, "--trials", "100000", code=1)
    assert b"FALSE NEGATIVES" in out, out
    keys.unlink()


def everyday(k, ref):
    """Create, add, check, dedup, remove; what is refused, and how."""
    spread = ref + "words"
    _, err = bloomery("check", spread, stdin=b"x\n", code=2)
    assert "no such key" in err, err
    bloomery("create", spread + "?shards=5", "-n", "20000", "-p", "0.001")
    _, err = bloomery("create", spread, "-n", "20000", code=2)
    assert "already exists" in err, err
    _, err = bloomery("check", spread + "?shards=6", stdin=b"x\n", code=2)
    assert "has 5 shards, not 6" in err, err
    _, err = bloomery("add", "--wait", "1", spread, stdin=lines(0, 10000))
    assert "10,000 keys added" in err and "failover" not in err, err
    assert bloomery("check", spread, stdin=lines(0, 10000))[0] == lines(0, 10000)
    out, _ = bloomery("check", spread, stdin=lines(50000, 10000), code=None)
    assert len(out.splitlines()) < 40
    _, err = bloomery("add", spread, stdin=lines(0, 10000))
    assert "10,000 keys added, 0 new" in err, err
    _, err = bloomery("add", "--wait", "2", spread + "?timeout=2", stdin=b"x\n", code=2)
    assert "only 1 of 2 replicas" in err, err
    # Replaced: whoever had the old one finds nothing, instead of wrong shards.
    old, _ = shard_keys(b"words", k.call("GET", "words"))
    run = server.spawn([BLOOMERY, "check", spread], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    run.stdin.write(b"https://example.com/1\n")
    run.stdin.flush()
    assert run.stdout.readline() == b"https://example.com/1\n"
    bloomery("create", "--force", spread, "-n", "1000")
    assert not any(k.call("EXISTS", x) for x in old)
    _, err = run.communicate(b"https://example.com/1\n", timeout=30)
    assert run.returncode == 2 and b"no such key" in err, err
    bloomery("check", "-q", spread, stdin=b"https://example.com/1\n", code=1)
    out, err = bloomery("dedup", "--state", ref + "seen", stdin=lines(0, 5000) * 2)
    assert out == lines(0, 5000) and err.count("--wait 1") == 1, err
    out, err = bloomery("dedup", "--wait", "1", "--state", ref + "seen", stdin=lines(4990, 20))
    assert out == lines(5000, 10) and "failover" not in err, err
    bloomery("create", ref + "counts", "-n", "2000", "-p", "1e-4", "--kind", "counting")
    bloomery("add", ref + "counts", stdin=lines(0, 1000))
    _, err = bloomery("remove", ref + "counts", stdin=lines(0, 500))
    assert "500 keys removed" in err, err
    assert bloomery("check", ref + "counts", stdin=lines(0, 1000))[0] == lines(500, 500)
    bloomery("create", ref + "chains?shards=3", "-n", "2000", "--scheme", "redisbloom")
    bloomery("add", ref + "chains", stdin=lines(0, 1000))
    assert bloomery("check", "-c", ref + "chains", stdin=lines(0, 1000))[0] == b"1000\n"
    k.call("BF.RESERVE", "one", "0.01", "100")
    _, err = bloomery("check", ref + "one", stdin=b"x\n", code=2)
    assert "redis://host/KEY" in err, err
    _, err = bloomery("convert", ref + "words", "-", "--to", "native", code=2)
    assert "shards" in err, err
    # A shard that is gone is trouble, not an answer.
    gone, _ = shard_keys(b"seen", k.call("GET", "seen"))
    k.call("DEL", gone[3])
    _, err = bloomery("check", ref + "seen", stdin=lines(0, 100), code=2)
    assert "a shard of the filter is gone" in err, err

class Adder:
    """A client that adds keys and is fed slowly, so that things happen meanwhile."""

    def __init__(self, ref, start, count, directory):
        self.out = open(f"{directory}/err{start}", "wb+")
        self.process = server.spawn([BLOOMERY, "add", "--wait", "1", ref], stdin=subprocess.PIPE,
                                    stderr=self.out)
        self.start, self.count, self.fed = start, count, 0
        self.thread = threading.Thread(target=self.feed, daemon=True)
        self.thread.start()

    def feed(self):
        step = self.count // 60
        try:
            for at in range(0, self.count, step):
                self.process.stdin.write(lines(self.start + at, min(step, self.count - at)))
                self.process.stdin.flush()
                self.fed = at
                if not LONG:
                    time.sleep(0.05)
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # end() says why

    def beyond(self, keys):
        """Has it added so many? One that has ended never will."""
        assert self.process.poll() is None or self.fed > keys, self.said()
        return self.fed > keys

    def said(self):
        self.out.seek(0)
        return self.out.read().decode()

    def end(self):
        self.thread.join()
        code = self.process.wait(300)
        words = self.said()
        assert code == 0, words
        found = re.search(r": ([\d,]+) keys added, (at least )?([\d,]+) new", words)
        assert found and int(found[1].replace(",", "")) == self.count, words
        return int(found[3].replace(",", "")), bool(found[2])

def move(k, key, source, target):
    """Moves a shard and its slot to another master."""
    slot = k.slot(key)
    s, t = k.nodes[source].client(), k.nodes[target].client()
    t("CLUSTER", "SETSLOT", slot, "IMPORTING", k.ids[source])
    s("CLUSTER", "SETSLOT", slot, "MIGRATING", k.ids[target])
    time.sleep(0.1)
    for x in s("CLUSTER", "GETKEYSINSLOT", slot, 100):  # other filters have shards there too
        s("MIGRATE", "127.0.0.1", k.nodes[target].port, x, 0, 20000)
    time.sleep(0.1)
    for node in (target, source, 3 - source - target):
        k.nodes[node].client()("CLUSTER", "SETSLOT", slot, "NODE", k.ids[target])

def master_of(k, node):
    return server.info(k.nodes[node].client(), "replication")["role"] == "master"

def torture(k, ref):
    """Three clients, each with keys of its own and keys that the next one adds too. A slot moves, a
    master dies with keys that its replica lacks, the replica takes over, and the node comes back. No key that was acknowledged is lost,
    none is new twice, and the rate holds."""
    n, third = KEYS, KEYS // 3
    total = 2 * (2 * third) + n
    spread = ref + "torture"
    bloomery("create", spread + f"?shards={SHARDS}", "-n", total, "-p", "0.001")
    keys, _ = shard_keys(b"torture", k.call("GET", "torture"))
    with tempfile.TemporaryDirectory() as directory:
        adders = [Adder(spread, i * 2 * third, n, directory) for i in range(3)]
        server.until("they add", lambda: all([a.beyond(n // 10) for a in adders]), 600)
        move(k, keys[0], 0, 1)
        server.until("they go on", lambda: all([a.beyond(n // 4) for a in adders]), 600)
        # Keys that the master has, answered for, and its replica has not: they die with it. The replica is
        # stopped and its connection cut, or what was on its way would reach it after all.
        k.nodes[3].process.send_signal(signal.SIGSTOP)
        c = k.nodes[0].client()
        c("CLIENT", "KILL", "TYPE", "replica")
        before = int(server.info(c, "replication")["master_repl_offset"])
        server.until("they wait", lambda: int(server.info(c, "replication")["master_repl_offset"]) > before
                     and int(server.info(c, "clients")["blocked_clients"]) > 0)
        k.nodes[0].kill(signal.SIGKILL)
        k.nodes[3].process.send_signal(signal.SIGCONT)
        server.until("the promotion", lambda: master_of(k, 3))
        k.nodes[0].start()
        server.until("it comes back", lambda: not master_of(k, 0))
        said = [a.end() for a in adders]
        new = sum(x for x, _ in said)
        repeated = any(x for _, x in said)
        assert new <= total and (repeated or new > total * 0.99), (said, total)
        print(f"    {total} keys, {new} new, {'some sent twice' if repeated else 'none sent twice'}")
        everything = pathlib.Path(directory) / "keys"
        with everything.open("wb") as f:
            for at in range(0, total, 100_000):
                f.write(lines(at, min(100_000, total - at)))
        assert bloomery("check", "-c", spread, everything)[0] == b"%d\n" % total
    absent = bloomery("check", "-c", spread, stdin=lines(10**9, 200_000), code=None)[0]
    wrong, expected = int(absent), 200_000 * 0.001
    assert wrong < expected + 5 * expected ** 0.5, wrong

def main():
    with Cluster(server.REDIS) as k:
        ref = f"redis+cluster://127.0.0.1:{k.nodes[1].port},127.0.0.1:{k.nodes[5].port}/"
        for test in (rules, everyday, whole, torture):
            begin = time.monotonic()
            test(k, ref)
            print(f"  {test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)

if __name__ == "__main__":
    server.run([main])
