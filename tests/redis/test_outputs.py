# SPDX-License-Identifier: MIT
"""follow, whose copy does not get to its file: each call that opens, maps, writes, flushes, renames, dates or
talks to the server fails once. With --once it says so and exits with 2, and the file that was there is
whole; or the file has every key that the server had. Writes and reads that do a third of their work are
not noticed. Without --once it goes on, and the file gets there after all."""
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import server
from server import BLOOMERY, SOURCE, Server, bloomery

sys.path.insert(0, str(SOURCE / "tests"))
from harness import CC, before_all, scratch  # noqa: E402

# What brings a file to the disk, or says how old it is. If one of these fails it must be said, unless the file
# that it was about is replaced afterwards.
WRITES = {"write", "pwrite", "pwrite64", "fsync", "fdatasync", "msync", "rename", "renameat2", "link", "linkat",
          "utimensat", "fflush", "ftruncate", "ftruncate64", "posix_fallocate", "posix_fallocate64"}
LONG = os.environ.get("BLM_LONG") == "1"
QUICK = os.environ.get("BLM_QUICK") == "1"  # a tenth of it: with AddressSanitizer, in the gate
OLD, NEW = [f"old {i}" for i in range(200)], [f"new {i}" for i in range(300)]
RUNS = 0


class Bench:
    """A directory with copies as they were when the server had only the old keys."""

    def __init__(self):
        work = scratch("redis.outputs")
        self.so, self.mark, self.place = work / "failing.so", work / "mark", work / "place"
        subprocess.run([CC, "-O1", "-shared", "-fPIC", "-o", self.so, SOURCE / "tests/cli/failing.c", "-ldl"],
                       check=True)
        self.place.mkdir()
        os.chdir(self.place)
        self.kept = work / "kept"

    def keep(self):
        shutil.copytree(".", self.kept)

    def restore(self):
        for name in os.listdir():
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
        shutil.copytree(self.kept, ".", dirs_exist_ok=True)

    def environment(self, **fail):
        global RUNS
        RUNS += 1
        self.mark.unlink(missing_ok=True)
        return {**before_all(self.so), "FAIL_MARK": str(self.mark),
                **{f"FAIL_{k.upper()}": str(v) for k, v in fail.items()}}

    def leavings(self):
        """What is there now and was not before: names below the place."""
        now = {str(p.relative_to(".")) for p in Path(".").rglob("*")}
        return now - {str(p.relative_to(self.kept)) for p in self.kept.rglob("*")}


def has(path, keys):
    """Does the copy say so of each, and is it whole?"""
    done = subprocess.run([BLOOMERY, "check", "-c", path], input="".join(f"{k}\n" for k in keys).encode(),
                          capture_output=True, check=False)
    assert done.returncode in (0, 1), (path, done.stderr.decode())
    if os.path.isfile(path):
        bloomery("verify", path, "--trials", "1000")
    return int(done.stdout) == len(keys)


def sentence(done, context):
    lines = done.stderr.decode().splitlines()
    assert lines and all(line.startswith("bloomery") for line in lines), context


def judge(bench, done, target, context):
    there = os.path.exists(target)
    context = f"{context}: exit {done.returncode}: {done.stderr.decode()}"
    assert done.returncode in (0, 2), context
    if done.returncode == 0:
        assert has(target, OLD + NEW), f"{context}\nkeys are missing"
    else:
        sentence(done, context)
        if (bench.kept / target).exists():
            assert there and has(target, ["kept"] if target == "other" else OLD) or \
                there and has(target, OLD + NEW), f"{context}\nthe old file is not whole"
        elif there and os.path.isfile(target):
            assert has(target, OLD + NEW), f"{context}\na new file is not whole"
    shards = {n for n in bench.leavings() if n.startswith(f"{target}/") and n.endswith(".blm")}
    extra = bench.leavings() - {target, f"{target}/shards"} - shards
    assert not extra, f"{context}\nleft behind: {extra}"


def once(bench, cases):
    for name, (words, target, strict) in cases.items():
        at = 1
        while True:
            why = errno.EIO if at % 2 else errno.ENOSPC
            bench.restore()
            done = subprocess.run([BLOOMERY, "follow", "--once", *words.split(), target], capture_output=True,
                                  check=False, timeout=120,
                                  env=bench.environment(what="calls", at=at, **{"with": why}))
            judge(bench, done, target, f"{name}, call {at} fails with {errno.errorcode[why]}")
            if not bench.mark.exists():
                assert done.returncode == 0, (name, done)
                break
            failed = bench.mark.read_text()
            assert done.returncode == 2 or not strict or failed not in WRITES, f"{name}: {failed} {at} was not said"
            at += 13 if QUICK else 1 if LONG or at < 60 else 7
        assert at > 10, f"{name}: hardly anything was to fail"
        bench.restore()
        done = subprocess.run([BLOOMERY, "follow", "--once", *words.split(), target], capture_output=True,
                              check=False, timeout=120, env=bench.environment(what="short"))
        assert done.returncode == 0, (name, done)
        judge(bench, done, target, f"{name}, by parts")
        print(f"  {name}: {at} calls", flush=True)


def one_key():
    bench = Bench()
    with Server() as s:
        c, url = s.client(), f"redis://127.0.0.1:{s.port}/"
        c("BF.RESERVE", "k", "1e-9", "1000", "KIND", "classic")
        c("BF.RESERVE", "grows", "1e-9", "250", "EXPANSION", "2")
        for key in ("k", "grows"):
            c("BF.MADD", key, *OLD)
            bloomery("follow", "--once", url + key, f"{key}.copy", "--quiet")
        bloomery("create", "other", "-n", 1000, "-p", "1e-9", "--quiet")
        bloomery("add", "other", "--quiet", stdin=b"kept\n")
        bench.keep()
        for key in ("k", "grows"):
            c("BF.MADD", key, *NEW)
        once(bench, {
            "a new file": (f"{url}k", "new", True),
            "a file that is behind": (f"{url}k", "k.copy", True),
            "a file that is replaced": (f"--force {url}k", "other", False),
            "a filter that has grown": (f"{url}grows", "grows.copy", False),
        })
        going_on(bench, c, url)
    os.chdir("/")


def going_on(bench, c, url):
    """Without --once: the server gets keys while calls fail, and then the file has them."""
    for at in range(1, 200, 1 if LONG else 60 if QUICK else 9):
        bench.restore()
        c("DEL", "k")
        c("BF.RESERVE", "k", "1e-9", "1000", "KIND", "classic")
        c("BF.MADD", "k", *OLD)
        p = server.spawn([BLOOMERY, "follow", "--every", "10ms", "--force", f"{url}k", "live"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         env=bench.environment(what="calls", at=at, **{"with": errno.EIO}))
        for i in range(0, len(NEW), 30):
            c("BF.MADD", "k", *NEW[i:i + 30])
            time.sleep(0.01)
        server.until("the keys, or the end", lambda: p.poll() is not None or
                     (os.path.exists("live") and has("live", OLD + NEW)))
        if p.poll() is None:
            p.send_signal(signal.SIGTERM)
        error = p.stderr.read().decode()
        code = p.wait(60)
        p.stderr.close()
        assert code in (0, 2, 130, 143, -signal.SIGTERM), (at, code, error)
        assert code != 2 or bench.mark.exists(), (at, error)
        assert code == 2 or has("live", OLD + NEW), (at, code, error)
        assert not {n for n in bench.leavings() if n != "live"}, (at, bench.leavings())


def shards():
    bench = Bench()
    with Server(("cluster-enabled", "yes")) as s:
        c, url = s.client(), f"redis+cluster://127.0.0.1:{s.port}/k?shards=3"
        c("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        server.until("the cluster", lambda: b"cluster_state:ok" in c("CLUSTER", "INFO"))
        bloomery("create", url, "-n", 2000, "-p", "1e-9", "--quiet")
        bloomery("add", url, "--quiet", stdin="".join(f"{k}\n" for k in OLD).encode())
        bloomery("follow", "--once", url, "k.copies", "--quiet")
        bench.keep()
        bloomery("add", url, "--quiet", stdin="".join(f"{k}\n" for k in NEW).encode())
        once(bench, {"a new directory": (url, "new", True),
                     "a directory that is behind": (url, "k.copies", False)})
    os.chdir("/")


def total():
    print(f"{RUNS} runs")


server.run([one_key, shards, total])
