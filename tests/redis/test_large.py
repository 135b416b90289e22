# SPDX-License-Identifier: MIT
"""Filters past what one string of Redis holds (512 MiB): made, asked, moved by chunks and by the command
line. The quick run does the same with a few chunks."""
import os
import tempfile

import server
from server import Server

ITEMS = 500_000_000 if server.SLOW else 20_000_000


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
            c("BF.RESERVE", "large", "0.01", ITEMS, *make)
            size = c("BF.INFO", "large", "SIZE")[0]
            assert size > (512 << 20) or not server.SLOW
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


if __name__ == "__main__":
    server.run([by_chunks])
