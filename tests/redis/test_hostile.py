# SPDX-License-Identifier: MIT
"""Ten thousand payloads that are nearly right: RESTORE bodies with their checksum made to fit, LOADCHUNKs
in any order, argument vectors. Each is answered (or ends in an error), and PING after each; no payload
makes the server take more memory than its cap. BLM_SEED chooses another run."""
import os
import random
import struct

import server
from server import Client, Error, Server, payload_of

TOTAL = int(os.environ.get("BLM_PAYLOADS", "10000"))
SEED = int(os.environ.get("BLM_SEED", "1"))
CAP = "64mb"


def flip(rng, data):
    """A few changes of the kinds that find mistakes."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not data:
            return bytes(rng.randbytes(rng.randrange(30)))
        at, what = rng.randrange(len(data)), rng.randrange(8)
        if what == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, 5, 7, rng.randrange(256)))
        elif what == 2:
            del data[at:]
        elif what == 3:
            del data[at:at + rng.randrange(1, 9)]
        elif what == 4:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif what == 5:
            value = rng.choice((0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 47, rng.randrange(2 ** 64)))
            data[at:at + 8] = struct.pack(rng.choice("<>") + "Q", value)
        elif what == 6:
            data[at:at + 8] = struct.pack("<d", rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e-300, 1e300,
                                                            0.5, 1.0)))
        else:
            data += rng.randbytes(rng.randrange(1, 40))
    return bytes(data)


def seeds(c):
    """Payload bodies and chunks of every sort: (DUMP bodies, chunk lists)."""
    bodies, chains = [], []
    for path in sorted(server.GOLDEN.glob("*/dump*.bin")):
        bodies.append(path.read_bytes()[:-10])
    for kind in ("classic", "blocked", "counting", "scalable"):
        c("BF.RESERVE", "s", "0.01", "30", "KIND", kind, "SEED", "1")
        c("BF.MADD", "s", *range(20))
        bodies.append(c("DUMP", "s")[:-10])
        chains.append(server.dump(c, "s"))
        c("DEL", "s")
    for make in (("0.01", "10"), ("0.2", "1"), ("0.01", "50", "NONSCALING")):
        c("BF.RESERVE", "s", *make)
        c.many([["BF.MADD", "s", *range(60)]])
        chains.append(server.dump(c, "s"))
        c("DEL", "s")
    c("BF.RESERVE", "s", "0.25", "1", "EXPANSION", "1")  # some 300 layers
    c("BF.MADD", "s", *range(600))
    bodies.append(c("DUMP", "s")[:-10])
    c("DEL", "s")
    return bodies, chains


WORDS = ["", "0", "1", "-1", "0.01", "1e-300", "nan", "inf", "-inf", "1e400", "9223372036854775807", "18446744073709551616",
         "EXPANSION", "NONSCALING", "CAPACITY", "ERROR", "NOCREATE", "ITEMS", "KIND", "SATURATE", "SEED", "classic",
         "blocked", "counting", "scalable", "k0", "k1", "k2", "text", "x" * 5000, b"\x00", b"\xff\xfe", "1073741824",
         "32768", "2", "100", "SIZE", "FILTERS", "expansion", "items"]
COMMANDS = ["BF.RESERVE", "BF.ADD", "BF.MADD", "BF.EXISTS", "BF.MEXISTS", "BF.INSERT", "BF.INFO", "BF.CARD",
            "BF.DEBUG", "BF.SCANDUMP", "BF.LOADCHUNK", "BF.DEL", "BF.MERGE", "BF.ESTIMATE"]


def restore(rng, bodies, _):
    body = rng.choice(bodies)
    body = body if rng.random() < 0.02 else flip(rng, body)
    return [["RESTORE", f"k{rng.randrange(3)}", "0", payload_of(body), "REPLACE"]]


def chunks(rng, _, chains):
    key, out = f"k{rng.randrange(3)}", []
    if rng.random() < 0.5:
        out.append(["DEL", key])
    chain = list(rng.choice(chains))
    if rng.random() < 0.4:
        rng.shuffle(chain)
    if rng.random() < 0.3:
        chain += rng.choice(chains)
    for at, data in chain:
        if rng.random() < 0.5:
            data = flip(rng, data)
        if rng.random() < 0.3:
            at = rng.choice((0, -1, 1, at + 1, at - 1, 2 ** 62, 17, len(data), 2 ** 63 - 1, "x"))
        out.append(["BF.LOADCHUNK", key, at, data])
    return out


def arguments(rng, _, __):
    command = rng.choice(COMMANDS)
    words = [rng.choice(("k0", "k1", "k2", "text", "none"))] if rng.random() < 0.9 else []
    return [[command, *words, *rng.choices(WORDS, k=rng.randrange(0, 8))]]


def questions(key):
    return [["BF.INFO", key], ["BF.MEXISTS", key, "a", "7"], ["BF.MADD", key, "q", "r", "7"], ["BF.SCANDUMP", key, 1],
            ["DEBUG", "DIGEST-VALUE", key], ["BF.ESTIMATE", key], ["DUMP", key], ["COPY", key, "copy", "REPLACE"]]


def address_space(s):
    """The most that the server ever had."""
    for line in open(f"/proc/{s.process.pid}/status", encoding="utf8"):
        if line.startswith("VmPeak:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmPeak")


def mutation():
    rng = random.Random(SEED)
    tally = {"ok": 0, "refused": 0}
    with Server() as s:
        c = s.client()
        cap = c("CONFIG", "GET", "*bf-max-bytes")[0]
        c("CONFIG", "SET", cap, CAP)
        bodies, chains = seeds(c)
        c("SET", "text", "x")
        sent = most = 0
        while sent < TOTAL:
            commands = rng.choice((restore, restore, restore, chunks, arguments))(rng, bodies, chains)
            try:
                replies = c.many([x for one in commands for x in (one, ["PING"])])
            except (ConnectionError, OSError) as e:
                raise SystemExit(f"seed {SEED}, payload {sent}: {e!r}: {commands!r}") from e
            assert all(r == "PONG" for r in replies[1::2]), (SEED, sent, commands, replies)
            for r in replies[::2]:
                tally["refused" if isinstance(r, Error) else "ok"] += 1
            sent += len(commands)
            if rng.random() < 0.1:  # what was let in must be good to use, too
                c.many(questions(f"k{rng.randrange(3)}"))
            if rng.random() < 0.02:
                most = int(server.info(c, "memory")["used_memory_peak"])
                c("DEL", "k0", "k1", "k2", "copy", "", "0", "1")
        assert c("PING") == "PONG"
        # Three keys and their copies, each at most the cap, and what a command holds meanwhile.
        assert most < 8 * (64 << 20), most
        c("DEBUG", "RELOAD")  # all that was let in can be saved and loaded
        print(f"  {sent} payloads with seed {SEED}: {tally['refused']} refused, {tally['ok']} taken; "
              f"at most {most >> 20} MiB; INFO: {server.info(c, 'modules').get('bf_refused_loads')} refused loads")
        assert tally["refused"] > TOTAL // 3 and tally["ok"] > TOTAL // 50, tally


def bounded():
    """What chunks and arguments make the server ask for, touched or not: never more than three filters at
    their cap and copies of them. (RESTORE is another matter: Redis asks for what a string in a payload says
    of its length before any module sees it.)"""
    rng = random.Random(SEED)
    with Server() as s:
        c = s.client()
        c("CONFIG", "SET", c("CONFIG", "GET", "*bf-max-bytes")[0], CAP)
        bodies, chains = seeds(c)
        before, sent = address_space(s), 0
        while sent < TOTAL // 4:
            commands = rng.choice((chunks, arguments))(rng, bodies, chains)
            c.many(commands + questions(f"k{rng.randrange(3)}"))
            sent += len(commands)
        assert address_space(s) < before + 8 * (64 << 20), (before, address_space(s))
        print(f"  {sent} chunks and commands: {(address_space(s) - before) >> 20} MiB asked for")


if __name__ == "__main__":
    server.run([mutation, bounded])
