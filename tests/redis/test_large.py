# SPDX-License-Identifier: MIT
"""Filters past what one string of Redis holds (512 MiB): made, asked, moved by chunks and by the command
line. `make test` does it with a chain, and with lines a few chunks long; the quick run has few chunks only."""
import os
import tempfile

import server
from server import Server

FEW, MANY = 20_000_000, 500_000_000
LONG = os.environ.get("BLM_LONG") == "1"


def copy_by_chunks(c, source, target):
    at = total = 0
    while True:
        at, data = c("BF.SCANDUMP", source, at)
        if at == 0:
            return total
        assert c("BF.LOADCHUNK", target, at, data) == "OK"
        assert len(data) <= 16 << 20
        total += len(data)


def by_chunks():
    for make in ((), ("KIND", "blocked", "SATURATE")):
        with Server() as s:
            c = s.client()
            cap = c("CONFIG", "GET", "*bf-max-bytes")[0]
            c("CONFIG", "SET", cap, "4gb")
            many = LONG or (server.SLOW and not make)
            c("BF.RESERVE", "large", "0.01", MANY if many else FEW, *make)
            size = c("BF.INFO", "large", "SIZE")[0]
            assert size > (512 << 20) or not many
            keys = [f"k{i}" for i in range(20_000)]
            c("BF.MADD", "large", *keys)
            total = copy_by_chunks(c, "large", "copy")
            assert total >= size - 200
            assert c("BF.MEXISTS", "copy", *keys) == [1] * len(keys)
            assert server.digest(c, "large") == server.digest(c, "copy")
            c("DEL", "copy")
            with tempfile.TemporaryDirectory() as d:
                reference = f"redis://127.0.0.1:{s.port}/"
                server.bloomery("convert", reference + "large", f"{d}/f", "--to", "native" if make else "redisbloom")
                assert os.path.getsize(f"{d}/f") >= size - 200
                server.bloomery("convert", f"{d}/f", reference + "back", "--to", "native" if make else "redisbloom")
            assert server.digest(c, "large") == server.digest(c, "back")
            print(f"  {size >> 20} MiB, {'blocked' if make else 'a chain'}")


def resident(s):
    """KiB of the server's memory that are there."""
    lines = open(f"/proc/{s.process.pid}/status", encoding="ascii").read().splitlines()
    return int(next(x for x in lines if x.startswith("VmRSS:")).split()[1])


def reserved_but_not_touched():
    """A large filter is zeroed pages that nobody has touched, also on servers that cannot be asked for zeroed
    memory (before 7.4), and also where its memory was used before; it is counted in full."""
    with Server() as s:
        c = s.client()
        items = 1_000_000_000
        before = resident(s)
        c("BF.RESERVE", "large", "0.01", items)
        size = c("BF.INFO", "large", "SIZE")[0]
        assert size > 1_300_000_000 and resident(s) - before < 64 << 10, resident(s) - before
        assert int(server.info(c, "memory")["used_memory"]) > size
        assert c("MEMORY", "USAGE", "large") > size
        c("BF.RESERVE", "used", "0.01", 8_000_000)
        for at in range(0, 2_000_000, 1000):
            c("BF.MADD", "used", *range(at, at + 1000))
        c("DEL", "used")
        for kind in ((), ("KIND", "blocked"), ("KIND", "classic")):
            c("BF.RESERVE", "again", "0.01", 7_900_000, *kind)
            assert c("BF.ESTIMATE", "again")[1][0] in (0, b"0"), c("BF.ESTIMATE", "again")  # no bit is set
            c("DEL", "again")


if __name__ == "__main__":
    server.run([by_chunks, reserved_but_not_touched])
