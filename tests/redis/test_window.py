# SPDX-License-Identifier: MIT
"""Windows on a server: BF.RESERVE … WINDOW, what is forgotten and what is not, the same on a replica, from
an append-only file, a rewritten one and an RDB file; refusals."""
import signal
import time

import server
from server import Server
from test_replication import follow, synced

DAY = "86400"


def reserve(c):
    c("BF.RESERVE", "day", "0.01", "1000", "WINDOW", DAY)
    c("BF.RESERVE", "short", "0.001", "1000", "WINDOW", "0.07")
    # At 1% a forgotten item could pass on the master, by an item that is still on its way to the replica.
    c("BF.RESERVE", "fine", "1e-9", "1000", "WINDOW", "0.63", "SLACK", "0.01")
    c("BF.RESERVE", "number", "0.01", "100", "KIND", "window")
    return ["day", "short", "fine", "number"]


def add_for_a_while(c, names, rounds=60):
    """Over many turns of the short ones; known keys too, which change a window."""
    for i in range(rounds):
        for name in names:
            c("BF.ADD", name, f"again-{i % 7}")
            c("BF.MADD", name, *(f"{name}-{i}-{j}" for j in range(5)), "known")
            c("BF.INSERT", name, "NOCREATE", "ITEMS", f"inserted-{i}")
        if i % 3 == 0:
            time.sleep(0.004)


def commands(binary):
    with Server(binary=binary) as s:
        c = s.client()
        reserve(c)
        info = c("BF.INFO", "day")
        told = dict(zip(info[::2], info[1::2]))
        assert told["Kind"] == "window" and told["Window in milliseconds"] == 86400000
        assert told["Slack"] == 8 * 12342858 - 86400000 and told["Capacity"] == 1000
        told = dict(zip(*[iter(c("BF.INFO", "number"))] * 2))
        assert told["Window in items"] == 100 and told["Slack"] == 20
        assert c("BF.MADD", "day", "a", "b", "a") == [1, 1, 0]
        assert c("BF.MEXISTS", "day", "a", "b", "c") == [1, 1, 0]
        # By number: never full, and the last hundred are there.
        for i in range(0, 2000, 10):
            c("BF.MADD", "number", *range(i, i + 10))
            assert c("BF.MEXISTS", "number", *range(max(0, i - 90), i + 10)) == [1] * min(100, i + 10)
        assert sum(c("BF.MEXISTS", "number", *range(1800))) < 60
        # By time: gone after a while.
        c("BF.ADD", "short", "x")
        server.until("it is forgotten", lambda: c("BF.EXISTS", "short", "x") == 0)
        assert c("BF.ADD", "short", "x") == 1
        server.until("they are forgotten", lambda: c("BF.CARD", "short") == 0)
        for words, error in [
                (["WINDOW", "0"], "seconds"), (["WINDOW"], "seconds"), (["WINDOW", "x"], "seconds"),
                (["WINDOW", "1e10"], "seconds"), (["WINDOW", "nan"], "seconds"),
                (["WINDOW", "60", "KIND", "blocked"], "KIND window"),
                (["SLACK", "5"], "KIND window"), (["KIND", "window", "SLACK", "5"], "SLACK needs WINDOW"),
                (["WINDOW", "60", "SLACK", "0.5"], "slack"),
                (["WINDOW", "60", "SATURATE", "NONSCALING"], "SATURATE")]:
            assert error in c.error("BF.RESERVE", "bad", "0.01", "100", *words), words
        assert c("EXISTS", "bad") == 0
        assert "BF.MADD" in c.error("BF.ADDAT", "day", "1", "x")
        assert c("BF.MERGE", "both", "day", "day") == "OK"
        assert c("BF.MEXISTS", "both", "a", "b", "c") == [1, 1, 0]


def replicas(binary):
    with Server(binary=binary) as master, Server(binary=binary) as replica:
        m = master.client()
        names = reserve(m)
        add_for_a_while(m, names, 10)
        r = follow(replica, master)
        add_for_a_while(m, names)
        synced(m, r)
        for n in names:
            assert server.digest(m, n) == server.digest(r, n), n
            assert server.dump(m, n) == server.dump(r, n), n
        time.sleep(0.2)  # everything of the short ones is gone: what comes now is a turn of its own
        add_for_a_while(m, names, 2)
        synced(m, r)
        for n in names:
            assert server.dump(m, n) == server.dump(r, n), n
        # Not only the bytes: at every moment both have, or both have forgotten. A replica goes by its
        # own clock, and here both have the same one: asked in between, it may be one turn late.
        for i in range(100):
            m("BF.ADD", "fine", f"fading-{i}")
            if i % 10 == 0:
                synced(m, r)
            first = m("BF.MEXISTS", "fine", *(f"fading-{j}" for j in range(i + 1)))
            there = r("BF.MEXISTS", "fine", *(f"fading-{j}" for j in range(i + 1)))
            again = m("BF.MEXISTS", "fine", *(f"fading-{j}" for j in range(i + 1)))
            done = i - i % 10 + 1  # what has surely arrived
            assert all(a >= b >= c for a, b, c in list(zip(first, there, again))[:done]), (first, there, again)
        copied = m("COPY", "day", "day2")
        synced(m, r)
        assert copied == 1 and server.dump(r, "day2") == server.dump(m, "day2") == server.dump(m, "day")
        server.until("both forget", lambda: m("BF.CARD", "short") == r("BF.CARD", "short") == 0)
        r("REPLICAOF", "NO", "ONE")
        assert r("BF.ADD", "day", "known") == 0
        assert sum(r("BF.MADD", "day", *(f"promoted-{i}" for i in range(100)))) > 50  # all in one turn: many are there by chance


def merged(binary):
    """BF.MERGE of windows by time, and adds after it: whoever repeats them later has the same, and forgets at
    the same moment."""
    with Server(("appendonly", "yes"), ("aof-use-rdb-preamble", "no"), binary=binary) as master, \
            Server(binary=binary) as replica:
        m = master.client()
        r = follow(replica, master)
        names = ["to", "new", "from"]
        for name in "to", "from":
            m("BF.RESERVE", name, "0.01", "1000", "WINDOW", "3.15", "SLACK", "0.05", "SEED", "7")
        first = time.monotonic()
        m("BF.MADD", "from", "a", "b")
        time.sleep(0.12)  # two turns
        m("BF.MADD", "to", "c")
        time.sleep(0.12)
        assert m("BF.MERGE", "to", "from") == "OK" and m("BF.MERGE", "new", "from", "to") == "OK"
        m("BF.ADD", "to", "x")
        m("BF.MADD", "new", "x", "y")
        synced(m, r)
        want = {n: server.dump(m, n) for n in names}
        assert {n: server.dump(r, n) for n in names} == want
        time.sleep(0.3)
        m("DEBUG", "LOADAOF")
        assert {n: server.dump(m, n) for n in names} == want
        assert m("BF.MEXISTS", "to", *"abcxz") == m("BF.MEXISTS", "new", *"abcxz") == [1, 1, 1, 1, 0] \
            or time.monotonic() - first > 3.15  # then they may be forgotten
        server.until("they are forgotten", lambda: not any(m("BF.CARD", n) for n in names))


def moments(binary):
    """A digest and a dump are of what is kept, not of the moment: two servers that have the same are asked
    one after the other, and a turn may pass in between."""
    with Server(binary=binary) as s:
        c = s.client()
        for name in reserve(c):
            c("BF.MADD", name, *range(50))
        before = {n: (server.digest(c, n), server.dump(c, n)) for n in ("short", "fine")}
        server.until("they are forgotten", lambda: c("BF.CARD", "short") == c("BF.CARD", "fine") == 0)
        assert {n: (server.digest(c, n), server.dump(c, n)) for n in ("short", "fine")} == before


def restarts(binary):
    for options in ([("appendonly", "yes"), ("aof-use-rdb-preamble", "no")],
                    [("appendonly", "yes"), ("aof-use-rdb-preamble", "yes")], [("save", "3600 1000000")]):
        with Server(*options, binary=binary) as s:
            c = s.client()
            names = reserve(c)
            for step in range(3):
                add_for_a_while(c, names, 12)
                if step == 1 and options[0][0] == "appendonly":
                    c("BGREWRITEAOF")
                    server.until("the rewrite", lambda: server.info(c, "persistence")
                                 ["aof_rewrite_in_progress"] == "0")
                    add_for_a_while(c, names, 5)
                before = {n: server.dump(c, n) for n in names}
                if options[0][0] == "save":
                    c("SAVE")
                s.restart(signal.SIGTERM)
                c = s.client()
                assert {n: server.dump(c, n) for n in names} == before, (options, step)
                assert c("BF.EXISTS", "day", "known") == 1
                server.until("it is forgotten", lambda: c("BF.CARD", "short") == 0)


def main():
    server.each_server(commands)
    server.each_server(moments)
    server.each_server(replicas)
    server.each_server(restarts)
    server.each_server(merged)


if __name__ == "__main__":
    server.run([main])
