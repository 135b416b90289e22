# SPDX-License-Identifier: MIT
"""Three masters with a replica each: filters live where their keys' slots are, survive the death of a
master, move with their slots, and the command line finds them from any node."""
import signal

import server
from cluster import Cluster


def cluster(binary):
    with Cluster(binary) as k:
        names = [f"filter{i}" for i in range(12)]
        for n in names:
            if int(n[6:]) % 3 == 0:
                k.call("BF.RESERVE", n, "0.01", "1000", "KIND", "blocked")
            reply = k.call("BF.MADD", n, *[f"{n}-{i}" for i in range(300)])
            assert sum(reply) >= 290
        assert len({k.slot(n) // 5461 for n in names}) == 3  # on every master
        # The command line, named any node, a replica too.
        lines = b"".join(b"filter0-%d\n" % i for i in range(300))
        for node in (0, 1, 2, 4):
            out, _ = server.bloomery("check", f"redis://127.0.0.1:{k.nodes[node].port}/filter0", stdin=lines)
            assert out == lines
        for n in names[:4]:
            server.bloomery("add", f"redis://127.0.0.1:{k.nodes[2].port}/{n}", stdin=b"by-hand\n")
            assert k.call("BF.EXISTS", n, "by-hand") == 1
        for scheme in ("native", "redisbloom"):
            server.bloomery("create", f"redis://127.0.0.1:{k.nodes[0].port}/pushed-{scheme}", "-n", "5000",
                            "-p", "0.01", "--scheme", scheme, "--from", "-", stdin=lines)
            assert k.call("BF.MEXISTS", f"pushed-{scheme}", "filter0-0", "filter0-299") == [1, 1]
        names_there = {x for n in k.nodes[:3] for x in n.client()("KEYS", "*")}
        assert not [x for x in names_there if b"loading" in x], names_there
        # A filter and its slot move to another master; adds by the command line go on meanwhile.
        moving, slot = "filter0", k.slot("filter0")
        source = min(slot // 5461, 2)
        target = (source + 1) % 3
        s, t = k.nodes[source].client(), k.nodes[target].client()
        t("CLUSTER", "SETSLOT", slot, "IMPORTING", k.ids[source])
        s("CLUSTER", "SETSLOT", slot, "MIGRATING", k.ids[target])
        s("MIGRATE", "127.0.0.1", k.nodes[target].port, moving, 0, 5000)
        server.bloomery("add", f"redis://127.0.0.1:{k.nodes[source].port}/{moving}", stdin=b"on-the-way\n")  # ASK
        for c in (t, s, k.nodes[(target + 1) % 3].client()):
            c("CLUSTER", "SETSLOT", slot, "NODE", k.ids[target])
        assert t("BF.MEXISTS", moving, "on-the-way", "filter0-7") == [1, 1]
        # A master dies; its replica is promoted; every filter answers as before.
        before = {n: k.call("BF.CARD", n, start=1) for n in names}
        links = [(k.nodes[i].client(), k.nodes[i + 3].client()) for i in range(3)]
        server.until("the replicas to have it all", lambda: all(
            server.info(m, "replication")["master_repl_offset"]
            == server.info(r, "replication")["slave_repl_offset"] for m, r in links))
        k.nodes[0].kill(signal.SIGKILL)
        c = k.nodes[3].client()
        server.until("the promotion", lambda: server.info(c, "replication")["role"] == "master")
        server.until("the cluster", lambda: all(b"cluster_state:ok" in k.nodes[i].client()("CLUSTER", "INFO")
                                                for i in (1, 2, 3)))
        for n in names:
            keys = [f"{n}-{i}" for i in range(300)]
            assert k.call("BF.MEXISTS", n, *keys, start=1) == [1] * 300, n
            assert k.call("BF.CARD", n, start=1) == before[n], n
            assert sum(k.call("BF.MADD", n, *[f"{n}+{i}" for i in range(100)], start=1)) > 90
        out, _ = server.bloomery("check", f"redis://127.0.0.1:{k.nodes[1].port}/filter0", stdin=lines)
        assert out == lines


def main():
    server.each_server(cluster)


if __name__ == "__main__":
    server.run([main])
