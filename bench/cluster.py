#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds and checks per second on one plain server and on clusters of 1, 2 and 3 masters, with the processor
time of client and servers for each key; beside a client that sends one key a command; and what a near copy
costs on the wire. Servers and client share this machine's cores: the processor time is what scales.

    bench/cluster.py keys [KEYS [ROUNDS]]    all servers are up during all rounds, which take turns; the best of each
    bench/cluster.py near [KEYS]

needs redis-server, redis-benchmark and a build.
"""
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/redis"))
import server  # noqa: E402
from server import BLOOMERY, Server  # noqa: E402

WHAT = sys.argv[1] if len(sys.argv) > 1 else "keys"
KEYS = int(float(sys.argv[2])) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5


def cpu(servers):
    total = 0.0
    for s in servers:
        facts = server.info(s.client(), "cpu")
        total += float(facts["used_cpu_user"]) + float(facts["used_cpu_sys"])
    return total


def timed(servers, *command):
    """Seconds on the clock, and of processor time in client and servers."""
    before, children = cpu(servers), resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clock = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    client = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    return clock, client, cpu(servers) - before


def cluster(masters):
    nodes = [Server(("cluster-enabled", "yes"), ("appendonly", "no")) for _ in range(masters)]
    clients = [n.client() for n in nodes]
    for i, c in enumerate(clients):
        c("CLUSTER", "ADDSLOTSRANGE", 16384 * i // masters, 16384 * (i + 1) // masters - 1)
        c("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
    for n in nodes[1:]:
        clients[0]("CLUSTER", "MEET", "127.0.0.1", n.port)
    server.until("the cluster", lambda: all(b"cluster_state:ok" in c("CLUSTER", "INFO") for c in clients))
    return nodes


def one_by_one(command, port, key):
    """redis-benchmark with one connection: a round trip for each key."""
    return ("redis-benchmark", "-p", str(port), "-c", "1", "-n", str(min(KEYS, 50_000)), "-r", "1000000000", "-q",
            command, key, "https://example.com/__rand_int__")


def throughput(keys, absent):
    places, best = {"plain server": [Server()]}, {}
    for masters in (1, 2, 3):
        places[f"{masters} master{'s' * (masters > 1)}"] = cluster(masters)
    try:
        for turn in range(ROUNDS):
            for name, nodes in places.items():
                port, spread = nodes[0].port, nodes is not places["plain server"]
                ref = f"redis{'+cluster' * spread}://127.0.0.1:{port}/k{turn}{'?shards=12' * spread}"
                subprocess.run([BLOOMERY, "create", "--quiet", ref, "-n", str(KEYS), "-p", "0.01"], check=True)
                tries = [("add", KEYS, (BLOOMERY, "add", "--quiet", ref, keys)),
                         ("check present", KEYS, (BLOOMERY, "check", "-c", ref, keys)),
                         ("check absent", KEYS, (BLOOMERY, "check", "-c", ref, absent))]
                if not spread:
                    tries += [(f"{c} key by key", min(KEYS, 50_000), one_by_one(c, port, f"k{turn}"))
                              for c in ("BF.MADD", "BF.MEXISTS")]
                for what, n, command in tries:
                    each = [x / n for x in timed(nodes, *command)]
                    best[what, name] = list(map(min, each, best.get((what, name), each)))
    finally:
        for nodes in places.values():
            for x in nodes:
                x.__exit__(None, None, None)
    print(f"{KEYS:,} keys of 30 bytes, 1%, 12 shards; the best of {ROUNDS} rounds\n"
          f"{'':34} {'10^3 keys/s':>11} {'beside plain':>12} {'client ns':>10} {'servers ns':>10}")
    for what, name in sorted(best, key=lambda x: (x[0].startswith("BF"), x[0].startswith("check"), x[0])):
        clock, client, servers = best[what, name]
        beside = {"BF.MADD key by key": "add", "BF.MEXISTS key by key": "check present"}.get(what, what)
        ratio = best[beside, "plain server"][0] / clock
        print(f"{what + ', ' + name:34} {1 / clock / 1e3:11.0f} {ratio:10.3f} x {client * 1e9:10.0f} {servers * 1e9:10.0f}")


class Counter:
    """Between client and server: counts bytes."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.bytes = self.listener.getsockname()[1], port, 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            a, _ = self.listener.accept()
            b = socket.create_connection(("127.0.0.1", self.target))
            for x, y in ((a, b), (b, a)):
                threading.Thread(target=self.pump, args=(x, y), daemon=True).start()

    def pump(self, a, b):
        while data := a.recv(1 << 16):
            self.bytes += len(data)
            b.sendall(data)


def near(keys):
    with Server() as s, tempfile.TemporaryDirectory() as directory:
        ref = f"redis://127.0.0.1:{s.port}/k"
        subprocess.run([BLOOMERY, "create", "--quiet", ref, "-n", str(10 * KEYS), "-p", "0.01"], check=True)
        proxy = Counter(s.port)
        run = subprocess.Popen([BLOOMERY, "follow", "--quiet", f"redis://127.0.0.1:{proxy.port}/k", f"{directory}/copy"])
        server.until("the copy", lambda: os.path.exists(f"{directory}/copy"))
        time.sleep(1)
        loaded = proxy.bytes
        begin, quiet = time.monotonic(), proxy.bytes
        time.sleep(2)
        rate = (proxy.bytes - quiet) / (time.monotonic() - begin)
        before, begin = proxy.bytes, time.monotonic()
        lines = open(keys, "rb").readlines()
        for at in range(0, KEYS, 50_000):  # no more between two questions than the server keeps
            subprocess.run([BLOOMERY, "add", "--quiet", ref], input=b"".join(lines[at:at + 50_000]), check=True)
            time.sleep(0.2)
        grown = proxy.bytes - before - rate * (time.monotonic() - begin)
        run.terminate()
        run.wait()
        print(f"near copy of a filter for {10 * KEYS:,} keys: {loaded:,} bytes to load it, {rate:.0f} bytes/s while "
              f"nothing changes,\n{grown / KEYS:.2f} bytes for each new key")


def near_shards():
    """A copy of 12 shards on 3 masters that has nothing to learn. The servers count."""
    nodes = cluster(3)

    def traffic(seconds):
        def total():
            facts = [server.info(s.client(), "stats") for s in nodes]
            return sum(int(f["total_net_input_bytes"]) + int(f["total_net_output_bytes"]) for f in facts)
        before = total()
        time.sleep(seconds)
        return (total() - before) / seconds

    try:
        with tempfile.TemporaryDirectory() as directory:
            ref = f"redis+cluster://127.0.0.1:{nodes[0].port}/k"
            subprocess.run([BLOOMERY, "create", "--quiet", ref + "?shards=12", "-n", str(KEYS), "-p", "0.01"], check=True)
            alone = traffic(5)  # what it costs to look
            run = subprocess.Popen([BLOOMERY, "follow", "--quiet", ref, f"{directory}/copy"])
            server.until("the copy", lambda: os.path.exists(f"{directory}/copy/shards"))
            print(f"near copy of 12 shards on 3 masters: {traffic(5) - alone:.0f} bytes/s while nothing changes")
            run.terminate()
            run.wait()
    finally:
        for x in nodes:
            x.__exit__(None, None, None)


def main():
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for name, start in (("keys", 0), ("absent", 10**9)):
            path = pathlib.Path(directory) / name
            with path.open("w") as f:
                f.writelines(f"https://example.com/{i:010d}\n" for i in range(start, start + KEYS))
            files.append(str(path))
        if WHAT == "keys":
            throughput(*files)
        else:
            near(files[0])
            near_shards()


if __name__ == "__main__":
    main()
