# SPDX-License-Identifier: MIT
"""64 clients on the module for a while, with kills and failovers in between; nothing acknowledged may
be lost, and memory must stay flat.

    tests/load/redis.py SECONDS [CLIENTS]

Two servers, a master and its replica, both with appendfsync always. A client adds items to a filter of
its own (RedisBloom's chains, fixed and growing, native kinds, cuckoo filters that also delete), and
counts them as acknowledged when the reply has come and WAIT says that the replica has them too. It asks
for acknowledged items all the time. When a filter is full the client deletes it and makes another, so
that the data stay as large as they are. In turn: the replica is killed (SIGKILL) and comes back; the
master is killed and comes back from its file; the master is killed, the replica takes over by REPLICAOF
NO ONE, and the old master comes back as its replica. At the end both servers are asked for everything.

A server that is killed begins with new memory, and what leaked is gone. So the last two fifths of a run have
no kills, and memory must be flat in them: used_memory in their last third, compared with the first
(medians), grows by no more than 5% and 2 MiB; the process' resident memory by no more than 25% and 8 MiB
(what the allocator and a rewrite of the file leave behind differs from run to run).

Prints one line of JSON. Exit 1: something was lost, or memory grew.
"""
import json
import os
import pathlib
import random
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "redis"))
import server  # noqa: E402
from server import Client, Server  # noqa: E402

server.WAIT = 600.0  # a busy machine may take minutes to start a server; what is lost is lost all the same

KINDS = [("chain", ["BF.RESERVE", "0.01", "8000", "NONSCALING"]), ("growing", None),
         ("blocked", ["BF.RESERVE", "0.01", "8000", "KIND", "blocked"]),
         ("counting", ["BF.RESERVE", "0.01", "8000", "KIND", "counting"]),
         ("cuckoo", ["CF.RESERVE", "16384"]), ("classic", ["BF.RESERVE", "0.01", "8000", "KIND", "classic"]),
         ("native-cuckoo", ["BF.RESERVE", "0.01", "8000", "KIND", "cuckoo"]),
         ("scalable", ["BF.RESERVE", "0.01", "1000", "KIND", "scalable"])]
FULL, BATCH = 6000, 20
# … of a run of minutes, whose end without kills goes on until so many filters were deleted that a leak shows.
BRIEF, ENOUGH = 1000, 400
CALM = 0.4  # the share of a run without kills


class World:
    """Who is master now, and what went wrong."""

    def __init__(self, most):
        self.most = most  # items of a filter
        self.options = [("appendonly", "yes"), ("appendfsync", "always"),
                        ("auto-aof-rewrite-min-size", "8mb"), ("repl-diskless-sync-delay", "0"),
                        ("repl-timeout", "600")]
        self.pair = [Server(*self.options), Server(*self.options)]
        self.master = 0
        self.stop = False
        self.lost = []
        self.events = {"replica killed": 0, "master killed": 0, "failover": 0}

    def port(self):
        return self.pair[self.master].port

    def follow(self, replica, master):
        c = replica.client()
        c("REPLICAOF", "127.0.0.1", master.port)
        server.until("the link", lambda: server.info(c, "replication")["master_link_status"] == "up", 600)
        c.close()


class Caller(threading.Thread):
    """One client. `epoch` and `acked` are what it was told; only it writes them."""

    def __init__(self, world, number):
        super().__init__(daemon=True)
        self.world, self.number = world, number
        self.kind, self.reserve = KINDS[number % len(KINDS)]
        self.random = random.Random(number)
        self.epoch, self.acked, self.begun = 0, 0, 0
        self.sure = False  # the filter of this epoch is known to be there
        self.full = False  # … and that it takes no more
        self.adds = self.asks = self.drops = 0
        self.client = None

    def key(self):
        return f"load:{self.number}:{self.epoch}"

    def items(self, first, count):
        return [f"{self.number}-{self.epoch}-{i}" for i in range(first, first + count)]

    def settle(self, replies):
        """The replies, if the replica has all that was written before WAIT."""
        for r in replies:
            if isinstance(r, server.Error):
                raise r
        return replies if replies[-1] >= 1 else None

    def add(self):
        """Items are begun once: after a doubt the same ones are sent again, which may only be answered 0."""
        items, words = self.items(self.acked, BATCH), []
        if not self.sure:
            if self.reserve:
                words.append([self.reserve[0], self.key(), *self.reserve[1:]])
        if self.kind == "cuckoo":
            words.append(["CF.INSERTNX", self.key(), "ITEMS", *items])
        else:
            words.append(["BF.MADD", self.key(), *items])
        words.append(["WAIT", "1", "2000"])
        replies = self.client.many(words)
        if not self.sure and self.reserve and isinstance(replies[0], server.Error):
            if "exists" not in str(replies[0]).lower():
                raise replies[0]
            replies = replies[1:]
        if self.settle(replies):
            self.sure = True
            if any(isinstance(r, server.Error) or r == -1 for r in replies[-2]):
                self.full = True  # a doubt sends keys twice, which a cuckoo filter keeps twice
                return
            self.acked += BATCH
            self.adds += BATCH

    def ask(self):
        if not self.acked:
            return
        first = self.random.randrange(0, self.acked, BATCH)
        items = self.items(first, BATCH)
        reply = self.client("CF.MEXISTS" if self.kind == "cuckoo" else "BF.MEXISTS", self.key(), *items)
        self.asks += BATCH
        for item, there in zip(items, reply):
            if not there:
                self.world.lost.append((self.key(), item, self.world.master))

    def renew(self):
        """A DEL without an answer may have been done: from then on nothing of the filter is promised."""
        if self.acked >= self.world.most or self.full:
            self.acked, self.full = 0, True
            reply = self.client.many([["DEL", self.key()], ["WAIT", "1", "2000"]])
            if self.settle(reply):
                self.epoch, self.sure, self.full = self.epoch + 1, False, False

    def run(self):
        while not self.world.stop:
            try:
                if not self.client:
                    self.client = Client(self.world.port(), timeout=30)
                if not self.full:
                    self.add()
                    self.ask()
                    self.ask()
                self.renew()
            except (OSError, ConnectionError, server.Error, ValueError):
                self.drops += 1
                if self.client:
                    self.client.close()
                self.client = None
                time.sleep(0.05)


def event(world, number):
    master, replica = world.pair[world.master], world.pair[1 - world.master]
    if number % 3 == 0:
        world.events["replica killed"] += 1
        replica.kill()
        replica.start()
        world.follow(replica, master)
    elif number % 3 == 1:
        world.events["master killed"] += 1
        master.kill()
        master.start()
        server.until("the link", lambda: server.info(replica.client(), "replication")
                     ["master_link_status"] == "up", 600)
    else:
        world.events["failover"] += 1
        master.kill()
        replica.client()("REPLICAOF", "NO", "ONE")
        world.master = 1 - world.master
        master.start()
        world.follow(master, replica)


def sample(world):
    try:
        s = world.pair[world.master]
        c = Client(s.port, timeout=30)
        used = int(server.info(c, "memory")["used_memory"])
        c.close()
        status = pathlib.Path(f"/proc/{s.process.pid}/status").read_text()
        rss = int(next(l for l in status.splitlines() if l.startswith("VmRSS:")).split()[1]) * 1024
        return used, rss
    except (OSError, ConnectionError, StopIteration, server.Error, KeyError):
        return None


def verify(world, callers):
    """Everything acknowledged, on both servers."""
    asked = 0
    for s in world.pair:
        c = Client(s.port, timeout=120)
        for caller in callers:
            for first in range(0, caller.acked, 500):
                items = caller.items(first, min(500, caller.acked - first))
                reply = c("CF.MEXISTS" if caller.kind == "cuckoo" else "BF.MEXISTS", caller.key(), *items)
                asked += len(items)
                world.lost += [(caller.key(), i, s.port) for i, there in zip(items, reply) if not there]
        c.close()
    return asked


def flat(samples, part, slack, extra):
    third = len(samples) // 3
    before = statistics.median(s[part] for s in samples[:third])
    after = statistics.median(s[part] for s in samples[2 * third:])
    return before, after, after <= before * slack + extra


def main():
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 15
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    world = World(FULL if length >= 300 else BRIEF)
    callers = [Caller(world, i) for i in range(count)]
    samples, number = [], 0
    try:
        world.follow(world.pair[1], world.pair[0])
        began = time.monotonic()
        for c in callers:
            c.start()
        while time.monotonic() < began + length * (1 - CALM) or number < 3:
            time.sleep(length / 24)
            event(world, number)
            number += 1
        # Since then the servers have been the same ones.
        calm, before = time.monotonic(), sum(c.epoch for c in callers)
        enough = ENOUGH if 60 <= length < 300 else 0
        while (time.monotonic() < calm + length * CALM or len(samples) < 6 or
               sum(c.epoch for c in callers) - before < enough):
            time.sleep(min(0.5, length / 60))
            seen = sample(world)
            if seen:
                samples.append(seen)
        world.stop = True
        for c in callers:
            c.join(120)
        took = time.monotonic() - began
        server.until("the last bytes", lambda: server.info(world.pair[world.master].client(), "replication")
                     ["master_repl_offset"] == server.info(world.pair[1 - world.master].client(),
                                                           "replication")["slave_repl_offset"], 600)
        asked = verify(world, callers)
        used = flat(samples, 0, 1.05, 2 << 20)
        rss = flat(samples, 1, 1.25, 8 << 20)
        print(json.dumps({
            "what": "redis", "clients": count, "seconds": round(took), **world.events,
            "acknowledged": sum(c.adds for c in callers), "asked": sum(c.asks for c in callers) + asked,
            "filters": sum(c.epoch + 1 for c in callers), "reconnected": sum(c.drops for c in callers),
            "lost": len(world.lost), "used_memory": [round(v) for v in used[:2]],
            "resident": [round(v) for v in rss[:2]]}), flush=True)
        for line in world.lost[:10]:
            print("lost:", line, file=sys.stderr)
        short = length < 60  # too few samples to say anything about memory
        for s in world.pair:
            if s.process.poll() is not None:
                raise AssertionError(f"a server died:\n{s.log()[-3000:]}")
        sys.exit(1 if world.lost or not asked or (not short and not (used[2] and rss[2])) else 0)
    finally:
        world.stop = True
        for s in world.pair:
            s.__exit__(None, None, None)


if __name__ == "__main__":
    main()
