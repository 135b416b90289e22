# SPDX-License-Identifier: MIT
"""No memory: each allocation of each command fails once, and then (BLM_SLOW=1; else of every fourth) it
and all after it. The command says so and exits with 2, and a file that was there is whole; or
nothing is different. Past the sixtieth of a command only some fail, unless BLM_LONG=1."""
import os

from commands import CASES, Bench
from tool import SLOW, check, scratch

LONG = os.environ.get("BLM_LONG") == "1"
work = scratch("cli.memory")
bench = Bench(work)

failures = 0
for number, name in enumerate(CASES):
    at, failed = 1, True
    while failed:
        for more in ((), ("on",)) if SLOW or (at + number) % 4 == 0 else ((),):
            done, made = bench.run(name, what="memory", at=at, **{word: 1 for word in more})
            failed = bench.failed
            bench.judge(name, done, made, f"allocation {at} fails{', and all after it' * len(more)}")
            bench.restore()
        failures += failed
        at += 1 if LONG or at < 60 else 1 + at // 8

check(failures > 450, f"only {failures} allocations failed")
print(f"{bench.runs} runs, {failures} allocations")
os.chdir("/")
