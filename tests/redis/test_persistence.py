# SPDX-License-Identifier: MIT
"""What a server has after it comes back is what it had: SAVE, an AOF of commands, a rewritten AOF with
and without RDB preamble, DEBUG RELOAD, and kill -9 while it was writing."""
import signal
import threading

import server
from server import Client, Error, Server


# What was accepted once is not held against a cap that came later.
LITTLE = ("bf-max-bytes", "1kb")


def unlimited(c):
    (cap,) = c("CONFIG", "GET", "*bf-max-bytes")[::2]
    assert "bf-max-bytes" in c.error("BF.RESERVE", "new", "0.01", "10000")
    c("CONFIG", "SET", cap, "2gb")


def fill(c):
    """Filters of every sort; the names."""
    c("BF.RESERVE", "reserved", "0.01", "1000")
    c("BF.MADD", "reserved", *range(800))
    c("BF.MADD", "auto", *range(3000))
    c("BF.RESERVE", "chain", "0.001", "10", "EXPANSION", "1")
    c("BF.MADD", "chain", *range(80))
    c("BF.RESERVE", "full", "0.01", "5", "NONSCALING")
    c("BF.MADD", "full", *range(20))
    c("BF.INSERT", "inserted", "CAPACITY", "77", "ERROR", "0.2", "ITEMS", "", b"\x00\x01\xff")
    c("BF.RESERVE", "saturated", "0.01", "20", "KIND", "classic", "SATURATE", "SEED", "5")
    c("BF.MADD", "saturated", *range(60))
    names = ["reserved", "auto", "chain", "full", "inserted", "saturated"]
    for kind in ("classic", "blocked", "counting", "scalable"):
        c("BF.RESERVE", kind, "0.01", "500", "KIND", kind)
        c("BF.MADD", kind, *range(400))
        names.append(kind)
    c("BF.DEL", "counting", *range(100))
    c("BF.MERGE", "merged", "reserved", "chain")
    server.load(c, "loaded", server.dump(c, "chain"))
    server.load(c, "loaded-native", server.dump(c, "blocked"))
    return names + ["merged", "loaded", "loaded-native"]


def state(c, names):
    return {n: (server.digest(c, n), server.dump(c, n), c("BF.INFO", n), c("TYPE", n)) for n in names}


def compare(c, before, what):
    for name, (digest, dump, info, kind) in before.items():
        assert c("TYPE", name) == kind, (what, name)
        assert server.digest(c, name) == digest, (what, name)
        assert server.dump(c, name) == dump, (what, name)
        assert c("BF.INFO", name) == info, (what, name, info, c("BF.INFO", name))


def grows_on_alike(c, other, names):
    """What comes back is not only equal but goes on equally: same layers from the same keys."""
    for n in names:
        if n == "full":
            continue
        for side in (c, other):
            side("BF.MADD", n, *[f"later{i}" for i in range(5000)])
    for n in names:
        assert server.digest(c, n) == server.digest(other, n), n


def save_and_reload(binary):
    with Server(binary=binary) as s:
        c = s.client()
        names = fill(c)
        before = state(c, names)
        c("DEBUG", "RELOAD")
        compare(c, before, "DEBUG RELOAD")
        c("SAVE")
        s.arguments = LITTLE
        c = s.restart(signal.SIGKILL)
        compare(c, before, "SAVE and restart")
        unlimited(c)
        with Server(binary=binary) as t:
            fill(t.client())
            grows_on_alike(c, t.client(), [n for n in names if n not in
                                           ("classic", "blocked", "counting", "scalable", "loaded-native")])


def append_only(binary):
    for preamble in ("no", "yes"):
        with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", preamble), binary=binary) as s:
            c = s.client()
            names = fill(c)
            before = state(c, names)
            s.arguments = LITTLE
            compare(s.restart(), before, f"the commands of an AOF, preamble {preamble}")
            c = s.client()
            c("BGREWRITEAOF")
            server.until("the rewrite", lambda: server.info(c, "persistence")["aof_rewrite_in_progress"] == "0"
                         and server.info(c, "persistence")["aof_rewrite_scheduled"] == "0")
            assert server.info(c, "persistence")["aof_last_bgrewrite_status"] == "ok"
            compare(s.restart(), before, f"a rewritten AOF, preamble {preamble}")
            c = s.client()
            unlimited(c)
            c("BF.MADD", "auto", *range(3000, 9000))  # and on top of the rewritten one
            after = state(c, names)
            compare(s.restart(signal.SIGKILL), after, f"adds behind a rewritten AOF, preamble {preamble}")


def killed(binary):
    """appendfsync always: every key that was acknowledged before kill -9 is there afterwards."""
    with Server(("appendonly", "yes"), ("appendfsync", "always"), binary=binary) as s:
        c = s.client()
        c("BF.RESERVE", "n", "0.001", "100000", "KIND", "blocked")
        acknowledged = {"auto": -1, "n": -1}

        def writer(key):
            mine = Client(s.port)
            try:
                for i in range(1_000_000):
                    mine("BF.MADD", key, f"{i}a", f"{i}b")
                    acknowledged[key] = i
            except (OSError, ConnectionError, Error):
                pass

        threads = [threading.Thread(target=writer, args=(k,)) for k in acknowledged]
        for t in threads:
            t.start()
        server.until("some adds", lambda: min(acknowledged.values()) > 100)
        s.kill(signal.SIGKILL)
        for t in threads:
            t.join()
        s.start()
        c = s.client()
        for key, last in acknowledged.items():
            keys = [f"{i}{x}" for i in range(last + 1) for x in "ab"]
            assert c("BF.MEXISTS", key, *keys) == [1] * len(keys), key
        print(f"  {sum(acknowledged.values()) * 2} keys acknowledged, all there")


def main():
    server.each_server(save_and_reload)
    server.each_server(append_only)
    server.each_server(killed)


if __name__ == "__main__":
    server.run([main])
