# SPDX-License-Identifier: MIT
"""Clients as people have them: redis-py's bf() (Debian's python3-redis) and redis-cli."""
import os
import subprocess
import sys

import server
from server import Server

try:
    import redis
except ImportError:
    # Debian's package serves Debian's Python, which need not be the one that runs us.
    if os.environ.get("BLM_REEXEC") or not os.path.exists("/usr/bin/python3"):
        raise
    os.environ["BLM_REEXEC"] = "1"
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def redis_py(binary):
    with Server(binary=binary) as s:
        r = redis.Redis(port=s.port)
        bf = r.bf()
        assert bf.create("bloom", 0.01, 1000)
        assert bf.create("bloom_e", 0.01, 1000, expansion=1)
        assert bf.create("bloom_ns", 0.01, 1000, noScale=True)
        try:
            bf.create("bloom", 0.01, 1000)
            raise SystemExit("created twice")
        except redis.ResponseError as e:
            assert str(e) == "item exists", e
        assert bf.add("bloom", "foo") == 1 and bf.add("bloom", "foo") == 0
        assert bf.madd("bloom", "foo", "bar", "baz") == [0, 1, 1]
        assert bf.exists("bloom", "foo") == 1 and bf.exists("bloom", "noexist") == 0
        assert bf.mexists("bloom", "foo", "noexist") == [1, 0]
        assert bf.insert("captest", ["foo"], capacity=1000, error=0.001) == [1]
        assert bf.insert("captest", ["foo", "new"]) == [0, 1]
        try:
            bf.insert("not-there", ["x"], noCreate=True)
            raise SystemExit("made in spite of noCreate")
        except redis.ResponseError as e:
            assert "not found" in str(e)
        info = bf.info("bloom")
        assert info.capacity == 1000 and info.insertedNum == 3 and info.filterNum == 1
        assert info.expansionRate == 2 and info.size == 1480
        assert bf.info("bloom_ns").expansionRate is None
        # SCANDUMP and LOADCHUNK, as the client's own tests go through them.
        keys = [f"item{i}" for i in range(1, 1000)]
        for k in keys:
            bf.add("dumped", k)
        chunks, at = [], 0
        while True:
            at, data = bf.scandump("dumped", at)
            if at == 0:
                break
            chunks.append((at, data))
        r.delete("dumped")
        for at, data in chunks:
            assert bf.loadchunk("dumped", at, data)
        assert all(bf.exists("dumped", k) for k in keys)
        # Pipelines and RESP types under decode_responses.
        with r.pipeline() as p:
            p.execute_command("BF.ADD", "pipe", 1)
            p.execute_command("BF.EXISTS", "pipe", 1)
            assert p.execute() == [1, 1]
        d = redis.Redis(port=s.port, decode_responses=True)
        assert d.bf().info("bloom").insertedNum == 3
        # redis-py's own tests skip what a module's version, two digits a part, is too old for.
        (module,) = [m for m in r.info("modules")["modules"] if m["name"] == "bf"]
        assert module["ver"] >= 20800
        print(f"  redis-py {redis.__version__}")


def redis_cli(binary):
    with Server(binary=binary) as s:
        def cli(*words, stdin=None):
            r = subprocess.run(["redis-cli", "-p", str(s.port), *words], input=stdin, capture_output=True,
                               text=True, timeout=60, check=False)
            return r.stdout

        assert cli("bf.reserve", "k", "0.01", "1000") == "OK\n"
        assert cli("bf.madd", "k", "a", "b", "a") == "1\n1\n0\n"
        assert cli("--no-raw", "bf.mexists", "k", "a", "q") == "1) (integer) 1\n2) (integer) 0\n"
        assert cli("-3", "--no-raw", "bf.mexists", "k", "a", "q") == "1) (true)\n2) (false)\n"
        assert cli("--no-raw", "bf.info", "k", "items") == "1) (integer) 2\n"
        assert cli("-3", "--no-raw", "bf.info", "k", "items") == "1# Number of items inserted => (integer) 2\n"
        assert cli("bf.reserve", "k", "0.01", "1000") == "ERR item exists\n\n"
        assert cli("bf.add", "k").startswith("ERR wrong number of arguments")
        # A mass insertion through --pipe.
        commands = "".join(f"BF.ADD mass {i}\r\n" for i in range(20000))
        assert "errors: 0, replies: 20000" in cli("--pipe", stdin=commands)
        assert int(cli("bf.card", "mass")) > 19700
        assert cli("copy", "mass", "mass2") == "1\n"


def main():
    server.each_server(redis_py)
    server.each_server(redis_cli)


if __name__ == "__main__":
    server.run([main])
