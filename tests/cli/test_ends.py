# SPDX-License-Identifier: MIT
"""Every way to end early while several threads read and hash: an input that is not there, a line
that is none, a reader that goes away, a device that is full, a file that may not grow, SIGINT. The
exit status and each word on standard error are given, so that a crash, and under a sanitizer its
report, is a failure. The filters have fixed seeds; dedup, which has none, is given a rate of 1e-12
(300 000 lines: one dropped wrongly in less than 1e-9 of all runs)."""
import os
import re
import resource
import signal
import subprocess

from tool import BLOOMERY, check, scratch, signal_when_calm, tool

work = scratch("cli.ends")
os.chdir(work)
LINES = 300000
lines = [b"%d\n" % i for i in range(LINES)]
good = b"".join(lines)
BAD = 250001
(work / "good").write_bytes(good)
(work / "bad").write_bytes(b"".join(lines[:BAD - 1]) + b"no number\n" + b"".join(lines[BAD:]))
for name, size, kind in (("small", 1e6, "classic"), ("large", 2e7, "classic"),
                         ("lines", 2e7, "blocked"),
                         ("growing", 1000, "scalable")):
    tool("create", name, "-n", size, "--kind", kind, "--seed", 1, "--quiet")
tool("create", "full", "-n", 400000, "--seed", 1, "--from", "good", "--quiet")
MISSING = r"missing: no such file: check the name \(- is standard input\)\n"
NUMBER = rf"bad: line {BAD} is not a whole number from -\d+ to \d+: correct it, or give another -e\n"
FULL = "standard output: no space left on the device: make room, then run the command again\n"


def judge(words, p, err, code, said):
    command = " ".join(words)
    check(p.returncode == code, f"{command}: exit {p.returncode}, not {code}\n{err}")
    pattern = "".join(f"bloomery {words[0]}: {s}" for s in said)
    check(re.fullmatch(pattern, err), f"{command} said\n{err}not\n{pattern}")


def ends(code, said, *words, out=None, **options):
    """Runs bloomery to its end; out: what it must print."""
    words = [*words, "--threads", "4"]
    p = subprocess.run([BLOOMERY, *words], stdout=options.pop("stdout", subprocess.PIPE),
                       stderr=subprocess.PIPE, check=False, **options)
    judge(words, p, p.stderr.decode(), code, said)
    check(out is None or p.stdout == out, f"{' '.join(words)}: other output")


def reader_leaves(*words):
    """Standard output is closed after its first bytes: no trouble, and nothing to say."""
    words = [*words, "--threads", "4"]
    p = subprocess.Popen([BLOOMERY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(p.stdout.read(1), "the first byte")
    p.stdout.close()
    err = p.stderr.read().decode()
    p.wait(300)
    judge(words, p, err, 0, [])


def interrupt(code, said, *words):
    """SIGINT when it has read what it was sent and waits for more."""
    words = [*words, "--threads", "4"]
    p = subprocess.Popen([BLOOMERY, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    p.stdin.write(good)
    p.stdin.flush()
    signal_when_calm(p, signal.SIGINT)
    err = p.stderr.read().decode()
    p.wait(300)
    judge(words, p, err, code, said)


def may_not_grow():
    """As on a full disk: a write past 1 MiB fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


DEDUP = ("dedup", "-p", "1e-12")
for turn in range(2):
    # ---- an input that is not there: the others are read, from the first line on
    ends(2, [MISSING], *DEDUP, "missing", "good", out=good)
    ends(2, [MISSING], *DEDUP, "good", "missing", "good", out=good)
    ends(2, [MISSING], "check", "full", "missing", "good", out=good)
    ends(2, [MISSING], "add", "small", "good", "missing")

    # ---- a line that is no number: what comes before it is done
    before = b"".join(lines[:BAD - 1])
    ends(2, [NUMBER], *DEDUP, "-e", "int64", "bad", out=before)
    tool("create", "numbers", "-n", LINES, "--kind", "counting", "--seed", 1, "--quiet", "--force")
    tool("add", "numbers", "good", "-e", "int64", "--quiet")
    ends(2, [NUMBER, r"stopped after line 250,000 of the input; numbers is valid: continue with "
                 r"the next line\n"], "remove", "numbers", "-e", "int64", "bad")
    ends(2, [NUMBER, r"stopped after 250,000 keys; new was not made\n"], "create",
         "new", "-n", "1e6", "--from", "bad", "-e", "int64")
    check(not os.path.exists("new"), "create left a file")
    stopped = r"stopped after 250,000 keys; \w+ is valid and holds every key added so far\n"
    for name in ("small", "large", "lines", "growing", "numbers"):
        ends(2, [NUMBER, stopped], "add", name, "-e", "int64", "bad")
    ends(2, [NUMBER], "check", "small", "-e", "int64", "bad", out=before)

    # ---- nobody listens
    with open("/dev/full", "wb") as full:
        ends(2, [FULL], *DEDUP, "good", stdout=full)
        ends(2, [FULL], "check", "full", "good", stdout=full)
        ends(2, [FULL], *DEDUP, "--state", f"state{turn}", "good", stdout=full)
    reader_leaves(*DEDUP, "good")
    reader_leaves("check", "full", "good")
    reader_leaves(*DEDUP, "--state", f"left{turn}", "good")
    ends(0, [], "check", "-q", "full", "good", out=b"")

    # ---- a file that may not grow
    tool("create", "grows", "--kind", "scalable", "-n", 1000, "-p", "1e-6", "--seed", 1, "--quiet",
         "--force")
    ends(2, [r"grows: .*\n", r"stopped after [\d,]+ keys; grows is valid and holds every key added so far\n"],
         "add", "grows", "good", preexec_fn=may_not_grow)

    # ---- SIGINT
    for name in ("small", "large", "growing"):
        interrupt(2, [r"interrupted after 300,000 keys; \w+ is valid and holds every key added so far: "
                      r"add the same input again to finish\n"], "add", name)
    interrupt(2, [r"interrupted after 300,000 lines; \w+ is valid and has every line that was "
                  r"written: run the command again\n"], *DEDUP, "--state", f"cut{turn}")
    interrupt(-signal.SIGINT, [], *DEDUP)
    interrupt(-signal.SIGINT, [], "check", "full")
