# SPDX-License-Identifier: MIT
"""Six servers as a cluster: three masters with a replica each."""
import server
from server import Error, Server


class Cluster:
    def __init__(self, binary):
        options = [("cluster-enabled", "yes"), ("cluster-node-timeout", "4000"), ("appendonly", "no"),
                   ("repl-ping-replica-period", "1"), ("repl-diskless-sync-delay", "0")]
        self.nodes = []
        for _ in range(6):
            self.nodes.append(Server(*options, binary=binary))
        self.ids = {}

    def __enter__(self):
        first, clients = self.nodes[0].client(), [n.client() for n in self.nodes]
        for i, c in enumerate(clients):
            c("CONFIG", "SET", "cluster-replica-validity-factor", "0")
            self.ids[i] = c("CLUSTER", "MYID").decode()
        for i, (low, high) in enumerate([(0, 5460), (5461, 10922), (10923, 16383)]):
            clients[i]("CLUSTER", "ADDSLOTSRANGE", low, high)
            clients[i]("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for n in self.nodes[1:]:
            first("CLUSTER", "MEET", "127.0.0.1", n.port)
        server.until("the nodes to meet", lambda: all(len(self.lines(c)) == 6 for c in clients))
        for i in range(3):
            clients[i + 3]("CLUSTER", "REPLICATE", self.ids[i])
        server.until("the cluster", lambda: all(
            b"cluster_state:ok" in c("CLUSTER", "INFO") for c in clients))
        server.until("the replicas", lambda: all(
            server.info(c, "replication")["master_link_status"] == "up" for c in clients[3:]))
        return self

    @staticmethod
    def lines(c):
        return [x for x in c("CLUSTER", "NODES").decode().splitlines() if " handshake" not in x]

    def __exit__(self, *what):
        for n in self.nodes:
            n.__exit__(*what)

    def slot(self, key):
        return self.nodes[3].client()("CLUSTER", "KEYSLOT", key)

    def call(self, *words, start=0):
        """As a cluster's client does: goes where it is sent."""
        port = self.nodes[start].port
        for _ in range(5):
            c = server.Client(port)
            try:
                return c(*words)
            except Error as e:
                if not str(e).startswith("MOVED"):
                    raise
                port = int(str(e).rsplit(":", 1)[1])
            finally:
                c.close()
        raise AssertionError("MOVED in circles")
