# SPDX-License-Identifier: MIT
"""A replica is its master: also where a command fails half way, where a filter was made by itself with
the master's settings, by chunks, in a transaction and a script; after a full resynchronisation, with and
without a disk; and after the replica is promoted."""
import server
from server import Server


def synced(m, r):
    m("WAIT", 1, 0)
    server.until("the replica", lambda: server.info(m, "replication")["master_repl_offset"]
                 == server.info(r, "replication")["slave_repl_offset"])


def equal(m, r):
    synced(m, r)
    assert m("DEBUG", "DIGEST") == r("DEBUG", "DIGEST")
    keys = sorted(m("KEYS", "*"))
    assert keys == sorted(r("KEYS", "*"))
    for k in keys:
        assert server.digest(m, k) == server.digest(r, k), k
        if m("TYPE", k) not in ("string",):
            assert server.dump(m, k) == server.dump(r, k), k
            assert m("BF.INFO", k) == r("BF.INFO", k), k


def follow(replica, master):
    c = replica.client()
    c("REPLICAOF", "127.0.0.1", master.port)
    server.until("the link", lambda: server.info(c, "replication")["master_link_status"] == "up")
    return c


def replication(binary):
    # The replica's own defaults differ, and its cap: what it gets must not depend on them.
    with Server(binary=binary) as master, Server(binary=binary) as replica:
        m = master.client()
        r0 = replica.client()
        for name, value in [("bf-initial-size", "7"), ("bf-error-rate", "0.2"), ("bf-expansion-factor", "5"),
                            ("bf-max-bytes", "1kb")]:
            (key,) = [k for k in r0("CONFIG", "GET", "*" + name)[::2]]
            r0("CONFIG", "SET", key, value)
        m("BF.MADD", "before", *range(500))
        m("BF.RESERVE", "native-before", "0.01", "100", "KIND", "counting")
        m("BF.MADD", "native-before", *range(50))
        r = follow(replica, master)
        equal(m, r)
        # Made by themselves.
        m("BF.ADD", "auto", "x")
        m("BF.MADD", "auto2", *range(2000))
        m("BF.INSERT", "auto3", "ITEMS", *range(300))
        m("BF.INSERT", "auto4", "CAPACITY", "33", "ITEMS", *range(300))
        equal(m, r)
        # Failing half way.
        m("BF.RESERVE", "full", "0.01", "10", "NONSCALING")
        reply = m("BF.MADD", "full", *range(30))
        assert len(reply) < 30 and isinstance(reply[-1], server.Error)
        m("BF.INSERT", "full", "ITEMS", 3, "new")
        m.many([["BF.ADD", "full", "another"]])
        m("BF.RESERVE", "full-native", "0.01", "10", "NONSCALING", "KIND", "classic")
        m.many([["BF.MADD", "full-native", *range(30)]])
        m("BF.RESERVE", "past-full", "0.01", "10", "NONSCALING", "SATURATE")
        m("BF.MADD", "past-full", *range(30))
        equal(m, r)
        # Growth that is refused by the cap half way through a command.
        (cap,) = m("CONFIG", "GET", "*bf-max-bytes")[::2]
        m("CONFIG", "SET", cap, "20000")
        m("BF.RESERVE", "capped", "0.01", "100", "EXPANSION", "2")
        for reply in m.many([["BF.MADD", "capped", *range(at, at + 1000)] for at in range(0, 20000, 1000)]):
            assert not isinstance(reply, server.Error) or "ERR" in str(reply)
        equal(m, r)
        assert m("BF.INFO", "capped", "SIZE")[0] <= 20000 + 4096
        m("CONFIG", "SET", cap, "2gb")
        # The last chunk of a native filter that turns out larger than the cap, which the replica does not have.
        m("BF.RESERVE", "wide", "0.01", "200000", "KIND", "blocked")
        chunks = server.dump(m, "wide")
        m("CONFIG", "SET", cap, "200000")
        assert isinstance(m.many([["BF.LOADCHUNK", "narrow", *x] for x in chunks])[-1], server.Error)
        assert m("EXISTS", "narrow") == 0
        equal(m, r)
        m("CONFIG", "SET", cap, "2gb")
        # Chunks, merges, removals, copies, transactions, scripts.
        server.load(m, "loaded", server.dump(m, "auto2"))
        m("BF.RESERVE", "blocked", "0.01", "1000", "KIND", "blocked")
        m("BF.MADD", "blocked", *range(900))
        server.load(m, "loaded-native", server.dump(m, "blocked"))
        m("BF.MERGE", "merged", "auto2", "auto3")
        m("BF.DEL", "native-before", 1, 2, "never")
        m("COPY", "blocked", "copied")
        m("RENAME", "copied", "renamed")
        m.many([["MULTI"], ["BF.ADD", "tx", "a"], ["BF.MADD", "tx", "b", "c"], ["EXEC"]])
        m("EVAL", "for i = 1, 200 do redis.call('bf.add', KEYS[1], i) end", 1, "script")
        m.many([["BF.RESERVE", "auto", "0.1", "5"], ["BF.ADD", "text", "x"], ["BF.MADD", "full"]])
        equal(m, r)
        assert "READONLY" in r.error("BF.ADD", "auto", "y") and "READONLY" in r.error("BF.LOADCHUNK", "q", 1, "x")
        assert r("BF.EXISTS", "auto", "x") == 1
        # Promoted: it goes on as the master would have.
        r("REPLICAOF", "NO", "ONE")
        assert "bf-max-bytes" in r.error("BF.RESERVE", "its-own", "0.01", "10000")
        r("CONFIG", "SET", cap, "2gb")
        for c in (m, r):
            c("BF.MADD", "auto2", *range(2000, 20000))
            c("BF.MADD", "merged", *range(2000, 4000))
        for k in ("auto2", "merged", "loaded"):
            assert server.digest(m, k) == server.digest(r, k), k


def repeated(binary):
    """An add that finds its items there is replicated all the same: from Redis 7.2 on, WAIT after it waits for
    nothing otherwise. And it changes nothing but what counts adds."""
    with Server(binary=binary) as master, Server(binary=binary) as replica:
        m = master.client()
        r = follow(replica, master)

        def sent(*words):
            before = int(server.info(m, "replication")["master_repl_offset"])
            m.many([words])             # the reply may be an error
            return int(server.info(m, "replication")["master_repl_offset"]) - before

        for kind in ("", "classic", "blocked", "scalable", "counting", "cuckoo", "window"):
            for fixed in ("", "NONSCALING"):
                key = f"{kind}-{fixed}"
                options = [*(("KIND", kind) if kind else ()), *((fixed,) if fixed else ())]
                if kind in ("scalable", "window") and fixed:
                    continue
                m("BF.RESERVE", key, "0.01", "100", *options)
                for words in (["BF.ADD", key, "x"], ["BF.MADD", key, "x", "y"], ["BF.INSERT", key, "ITEMS", "x", "y"]):
                    m(*words)
                    assert sent(*words) > len(key), words
        equal(m, r)
        m("CF.RESERVE", "full", 8, "EXPANSION", 0)
        m("CF.INSERT", "full", "ITEMS", *range(100))
        m("CF.RESERVE", "f", 100)
        m("CF.INSERT", "f", "ITEMS", "a", "b")
        for words in (["CF.DEL", "f", "never"], ["CF.ADDNX", "f", "a"], ["CF.INSERTNX", "f", "ITEMS", "a"], ["CF.COMPACT", "f"],
                      ["CF.INSERT", "full", "ITEMS", "x"]):
            assert sent(*words) > 20, words
        m("BF.RESERVE", "counts", "0.01", 100, "KIND", "counting")
        for words in (["BF.DEL", "counts", "never"], ["CF.ADD", "full", "x"], ["CF.DEL", "none", "x"]):
            assert sent(*words) == 0, words
        synced(m, r)
        assert all(m("DUMP", key) == r("DUMP", key) for key in ("full", "f"))


def resynchronisation(binary):
    """A full copy, through a file and diskless on both sides, while the master is written to."""
    for diskless in ("no", "yes"):
        load = "swapdb" if diskless == "yes" else "disabled"
        with Server(("repl-diskless-sync", diskless), ("repl-diskless-sync-delay", "0"), binary=binary) as master, \
                Server(("repl-diskless-load", load), binary=binary) as replica:
            m = master.client()
            for i in range(40):
                m("BF.MADD", f"k{i}", *range(i * 100, i * 100 + 500))
                m("BF.RESERVE", f"n{i}", "0.01", "1000", "KIND", ("blocked", "counting")[i % 2])
                m("BF.MADD", f"n{i}", *range(400))
            replica.client()("BF.MADD", "old", *range(100))
            r = replica.client()
            r("REPLICAOF", "127.0.0.1", master.port)
            for i in range(40):
                m("BF.MADD", f"k{i}", *range(5000, 5100))
            server.until("the link", lambda: server.info(r, "replication")["master_link_status"] == "up")
            equal(m, r)


def main():
    server.each_server(replication)
    server.each_server(repeated)
    server.each_server(resynchronisation)


if __name__ == "__main__":
    server.run([main])
