#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulates filters in shards on clusters of up to 1 000 nodes: how evenly shards and keys are spread, and
what failures do. The same seed gives the same report; docs/scale.md quotes it.

    bench/shards.py [--seed N] [--years Y]
"""
import argparse
import heapq
import math
import random

SLOTS = 16384


def crc16(data):
    crc = 0
    for b in data:
        crc ^= b << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
    return crc


def masters_of(slots, masters):
    """How many of these slots each master has, if all have equal stretches of them."""
    count = [0] * masters
    for s in slots:
        count[s * masters // SLOTS] += 1
    return count


def balance():
    print("Shards on the busiest and idlest master, and the busiest one's load over the mean:")
    print(f"{'masters':>8} {'shards':>7} {'by tag table':>22} {'KEY{0} … KEY{S-1}':>24}")
    for masters in (3, 10, 100, 500):
        shards = 4 * masters
        ours = masters_of([(2 * i + 1) * (SLOTS // 2) // shards for i in range(shards)], masters)
        naive = masters_of([crc16(b"%d" % i) % SLOTS for i in range(shards)], masters)
        cells = [f"{max(c)}, {min(c)}: {max(c) * masters / shards:.2f}" for c in (ours, naive)]
        print(f"{masters:8} {shards:7} {cells[0]:>22} {cells[1]:>24}")


def binomial(rng, n, p):
    """By the normal law, which is close for means above 10^4."""
    return round(rng.gauss(n * p, math.sqrt(n * p * (1 - p))))


def share(n, shards):
    mean, l = n / shards, math.log(shards * 1e9)
    return mean + l / 3 + math.sqrt(l * l / 9 + 2 * mean * l)


def keys(rng):
    print("\nKeys on the fullest of all shards in 1 000 filters (100 of 4 000 shards), over the mean; and what a shard is planned for:")
    for n, shards in ((10**7, 12), (10**9, 24), (10**10, 400), (10**12, 4000)):
        most = max(binomial(rng, n, 1 / shards) for _ in range(shards * (1000 if shards < 1000 else 100)))
        mean = n / shards
        print(f"{n:>16,} keys, {shards:>5} shards: fullest {most / mean:.6f}, planned {share(n, shards) / mean:.6f}")
        assert most < share(n, shards)


def failures(rng, years, masters=500, replicas=1, mtbf_days=365, failover_s=15, repair_h=1, resync_s=60):
    """Nodes fail independently, once in mtbf_days in the mean. A master that fails is replaced by a replica
    after failover_s; a failed node is back after repair_h, and has its data after resync_s more. If all
    copies of a master's shards are down at once, what only they had is lost."""
    seconds = years * 365 * 86400
    rate = 1 / (mtbf_days * 86400)
    copies = 1 + replicas
    down = [0] * masters  # copies that are down or not in sync
    unavailable = lost = failed = 0.0
    events = [(rng.expovariate(rate), "fail", m) for m in range(masters) for _ in range(copies)]
    heapq.heapify(events)
    master_share = 1 / copies  # of failures that hit the master itself
    while events and events[0][0] < seconds:
        now, what, m = heapq.heappop(events)
        if what == "back":
            down[m] -= 1
            heapq.heappush(events, (now + rng.expovariate(rate), "fail", m))
            continue
        failed += 1
        down[m] += 1
        back = repair_h * 3600 + resync_s
        heapq.heappush(events, (now + back, "back", m))
        if down[m] >= copies:
            lost += 1
            unavailable += back
        elif rng.random() < master_share:
            unavailable += failover_s
    total = masters * seconds
    return failed / years, unavailable / total, lost / years


def report_failures(rng, years):
    print(f"\nFailures, {years} simulated years of 1 000 nodes; each fails once a year, is back after an hour, and a\n"
          "replica takes over after 15 s:")
    for masters, replicas in ((1000, 0), (500, 1), (333, 2)):
        failed, share_down, lost = failures(rng, years, masters, replicas)
        anyone = 1 - (1 - share_down) ** masters
        print(f"{masters:5} masters, {replicas} replicas each: {failed:5.0f} failures a year; a key's shard is away "
              f"{share_down * 365 * 86400:7.1f} s a year; a batch over\n"
              f"      all shards meets one that is away {anyone:.4%} of the time; all copies of some shards are lost "
              f"{lost:.2f} times a year")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--years", type=int, default=200)
    a = p.parse_args()
    rng = random.Random(a.seed)
    balance()
    keys(rng)
    report_failures(rng, a.years)


if __name__ == "__main__":
    main()
