# SPDX-License-Identifier: MIT
"""bench and web, whose output is another one each time, or a service: what test_outputs.py and test_memory.py
do to the other commands. Each call and each allocation fails once, writes and reads do a third of their
work, the output is full, closed, or its reader leaves. bench says so and exits with 2, or prints all it
has to. web says so and exits with 2, or it goes on: an answer is whole, an error by its status, or shorter
than it says, and the next one is whole. (`follow` needs a server: tests/redis/test_outputs.py.)"""
import errno
import http.client
import json
import os
import re
import select
import subprocess

from commands import library
from tool import BLOOMERY, BUILD, before_all, check, scratch

LONG = os.environ.get("BLM_LONG") == "1"
QUICK = os.environ.get("BLM_QUICK") == "1"  # a fifth of it: with AddressSanitizer, in the gate
SANITIZED = "BLOOMERY_FUZZ:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text() # ASan's build is the fuzzers'
work = scratch("cli.served")
so, mark = library(work), work / "mark"
runs = 0


def environment(**fail):
    global runs
    runs += 1
    mark.unlink(missing_ok=True)
    # Clocks that hurry: bench has measured in half a second what takes it ten.
    # AddressSanitizer has allocations of its own in every thread, and does not survive without: only the program's
    # fail then.
    own = {"FAIL_OWN": "1"} if SANITIZED else {}
    return {**before_all(so), **own, "FAIL_MARK": str(mark), "FAIL_HURRY": "1000",
            **{f"FAIL_{k.upper()}": str(v) for k, v in fail.items()}}


def sentence(stderr, context):
    lines = stderr.decode().splitlines()
    check(lines and all(line.startswith("bloomery ") for line in lines), context)


# ---- bench


def bench(*words, output=subprocess.PIPE, closed=False, **fail):
    return subprocess.run([BLOOMERY, "bench", "--quick", *words], stdout=output, stderr=subprocess.PIPE,
                          env=environment(**fail), check=False, timeout=120,
                          preexec_fn=(lambda: os.close(1)) if closed else None)


def whole(done, words):
    """Is that all that bench has to say?"""
    if words:
        results = json.loads(done.stdout)["results"]
        return {(r["kind"], r["items"]) for r in results} >= {(k, n) for k in ("blocked", "classic")
                                                              for n in (100000, 10000000)}
    lines = done.stdout.decode().splitlines()
    return lines[-1].startswith("blocked, 10,000,000 keys, batches:") and any(
        line.startswith("classic    10,000,000 ") for line in lines)


def judge_bench(done, words, context):
    context = f"bench {context}: exit {done.returncode}: {done.stderr.decode()}"
    check(done.returncode in (0, 2), context)
    if done.returncode == 2:
        sentence(done.stderr, context)
    else:
        check(whole(done, words), f"{context}\n{done.stdout.decode()}")


with open("/dev/full", "wb") as full:
    done = bench(output=full)
check(done.returncode == 2 and done.stderr.count(b"standard output: no space left") == 1, f"full: {done}")
done = bench(closed=True)
check(done.returncode == 2 and b"standard output is closed" in done.stderr, f"closed: {done}")
reader, writer = os.pipe()
os.close(reader)
done = bench(output=writer)
os.close(writer)
check(done.returncode == 0 and not done.stderr, f"a reader that left: {done}")

for words in ((), ("--json",)):
    done = bench(*words, what="short")
    check(done.returncode == 0, f"by parts: {done.stderr.decode()}")
    judge_bench(done, words, "by parts")
for what in ("calls", "memory"):
    at = 1
    while True:
        words = ("--json",) if at % 2 else ()
        done = bench(*words, what=what, at=at, **{"with": errno.ENOSPC if at % 3 else errno.EIO})
        if not mark.exists():
            break
        judge_bench(done, words, f"{what} {at}")
        at += 23 if QUICK else 1 if LONG or at < 12 else 5
    check(at > 3, f"bench, {what}: nothing was to fail")

# ---- web

PAGE = b"<!doctype html><title>x</title>" + b"\xe9" * 300000
site = work / "page"
site.mkdir()
(site / "index.html").write_bytes(PAGE)


def ask(port, path):
    """Status and body of an answer; None if none came, or less than it said. Whoever is not served is told by
    the end of the connection, and not left waiting."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        c.request("GET", path)
        answer = c.getresponse()
        return answer.status, answer.read()
    except TimeoutError:
        return 0, b"nothing, and no end"
    except (OSError, http.client.HTTPException):
        return None
    finally:
        c.close()


def ended(run, seconds):
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def web(context, **fail):
    """Starts the server, asks three times, ends it. Did it come to the failure?"""
    env = environment(**fail)
    run = subprocess.Popen([BLOOMERY, "web", "--dir", site, "--quiet"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=env)
    try:
        check(select.select([run.stdout], [], [], 120)[0], f"{context}: it does not say where it is")
        url = re.fullmatch(rb"http://127\.0\.0\.1:(\d+)/\n", run.stdout.readline())
        if url:
            for path in ("/", "/no", "/"):
                broken, right = mark.exists(), (200, PAGE) if path == "/" else (404, b"404 Not Found\n")
                got = ask(int(url[1]), path)
                if got == right:
                    continue
                check(mark.exists() and (got is None or got[0] >= 400), f"{context}: a wrong answer: {got}")
                if broken or got is None and ended(run, 0.02):
                    break
            if got != right and not broken:  # the last one met the failure
                broken, right, got = True, (200, PAGE), ask(int(url[1]), "/")
        if not url or ended(run, 30 if broken and got != right else 0):
            code = run.wait(60)
            check(code == 2, f"{context}: exit {code}")
            sentence(run.stderr.read(), context)
        else:
            check(got == right, f"{context}: it does not go on: {got}")
        return mark.exists()
    finally:
        run.kill()
        run.wait()
        run.stdout.close()
        run.stderr.close()


check(not web("by parts", what="short"), "short calls are no failure")
for what in ("calls", "memory"):
    at = 1
    while web(f"web, {what} {at}", what=what, at=at, **{"with": (errno.EIO, errno.ENOMEM)[at % 2]}):
        at += 1
    check(at > 1 or what == "memory" and SANITIZED, f"web, {what}: nothing was to fail")
for words in (["--path"], []):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([BLOOMERY, "web", "--dir", site, "--quiet", *words], stdout=full,
                              stderr=subprocess.PIPE, check=False, timeout=60)
    check(done.returncode == 2 and b"standard output: no space left" in done.stderr, f"web, full: {done}")

print(f"{runs} runs")
