# SPDX-License-Identifier: MIT
"""SIGKILL and SIGINT in the middle of add and of dedup --state: the file is valid, says where it
was, and no line is lost. Also what nohup does, and a second writer after a killed one."""
import os
import signal
import subprocess
import time

from tool import BLOOMERY, SLOW, check, count, scratch, tool

work = scratch("cli.signals")
os.chdir(work)
KEYS = 400000 if SLOW else 200000
lines = [f"https://example.com/page/{i}\n".encode() for i in range(KEYS)]
(work / "keys").write_bytes(b"".join(lines))


def feed(process, upto):
    """Gives the first lines, and waits until the process has asked for more than that."""
    process.stdin.write(b"".join(lines[:upto]))
    process.stdin.flush()


def wait_for(truth, what):
    for _ in range(1000):
        if truth():
            return
        time.sleep(0.01)
    check(False, f"{what} never came")


def has(filter_, key):
    done = subprocess.run([BLOOMERY, "check", "-q", filter_], input=key, check=False)
    check(done.returncode in (0, 1), f"{filter_} can be asked")
    return done.returncode == 0


# ---- add
for kind in ("blocked", "counting", "scalable"):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        name = f"{kind}-{number.name}.blm"
        size = "1000" if kind == "scalable" else str(KEYS)
        tool("create", name, "-n", size, "-p", "1e-6", "--kind", kind, "--quiet")
        p = subprocess.Popen([BLOOMERY, "add", name], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        feed(p, 100000)
        wait_for(lambda: has(name, lines[99999]), "the last key")
        p.send_signal(number)
        p.wait(30) if number == signal.SIGKILL else None
        err = p.communicate()[1].decode()
        if number == signal.SIGKILL:
            check(p.returncode == -number, "killed")
        else:
            check(p.returncode == 2, f"exit {p.returncode} after {number.name}")
            check(err == f"bloomery add: interrupted after 100,000 keys; {name} is valid and has "
                         "what was added: the same input can be added again\n", err)
        check(count(name, "keys") >= 100000, f"{name} has every key added")
        check(count(name, "keys") < 100100, f"{name} has no others")
        # The file can be written again, and the same input finishes the work.
        tool("add", name, "keys", "--quiet")
        check(count(name, "keys") == KEYS, f"{name} has them all")

# ---- create --from: nothing appears, and an old file stays
tool("create", "old.blm", "-n", "10", "--quiet")
before = (work / "old.blm").read_bytes()
p = subprocess.Popen([BLOOMERY, "create", "old.blm", "-n", str(KEYS), "--from", "-", "--force"],
                     stdin=subprocess.PIPE, stderr=subprocess.PIPE)
feed(p, 1000)
time.sleep(0.1)
p.send_signal(signal.SIGINT)
err = p.communicate()[1].decode()
check(p.returncode == 2, f"exit {p.returncode}")
check(err.startswith("bloomery create: interrupted after ") and "was not made" in err, err)
check((work / "old.blm").read_bytes() == before, "the old file is whole")
check(not [x for x in os.listdir() if x.startswith("old.blm") and x != "old.blm"], "no litter")

# ---- remove
(work / "first").write_bytes(b"".join(lines[:1000]))
tool("create", "count.blm", "-n", str(KEYS), "-p", "1e-6", "--kind", "counting", "--from", "keys",
     "--quiet")
p = subprocess.Popen([BLOOMERY, "remove", "count.blm"], stdin=subprocess.PIPE,
                     stderr=subprocess.PIPE)
feed(p, 1000)
wait_for(lambda: not has("count.blm", lines[999]), "the last remove")
p.send_signal(signal.SIGINT)
err = p.communicate()[1].decode()
check(p.returncode == 2, f"exit {p.returncode}")
check(err == "bloomery remove: interrupted after line 1,000 of the input; count.blm is valid: go on "
             "with the line after it\n", err)
check(count("count.blm", "keys") == KEYS - 1000, "the others are there")

# ---- dedup --state
# A line that the filter takes for a seen one by chance would look like one that was lost: at the
# default rate that happens about once in a hundred runs of what follows.
RARE = "1e-12"
for number in (signal.SIGINT, signal.SIGKILL):
    name = f"state-{number.name}.blm"
    with open("out", "wb") as out:
        p = subprocess.Popen([BLOOMERY, "dedup", "--state", name, "-p", RARE], stdin=subprocess.PIPE,
                             stdout=out, stderr=subprocess.PIPE)
        feed(p, 100000)
        wait_for(lambda: os.path.getsize("out") == sum(map(len, lines[:100000])), "the output")
        wait_for(lambda: has(name, lines[99999]), "the last key")
        p.send_signal(number)
        err = p.communicate()[1].decode()
    if number == signal.SIGINT:
        check(p.returncode == 2, f"exit {p.returncode}")
        check(err == f"bloomery dedup: interrupted after 100,000 lines; {name} is valid and has "
                     "every line that was written: run this again\n", err)
    rest, _ = tool("dedup", "--state", name, "keys", "-p", RARE)
    check(rest == b"".join(lines[100000:]), f"{number.name}: the rest, and only the rest")

# Killed at any moment, while it runs at full speed: what was printed and what the next run prints
# is everything. (Lines may come twice; none may be missing.)
for i in range(24 if SLOW else 8):
    name = f"race-{i}.blm"
    with open("out", "wb") as out:
        p = subprocess.Popen([BLOOMERY, "dedup", "--state", name, "-n", str(KEYS), "-p", RARE, "keys"],
                             stdout=out)
        time.sleep(0.002 * (i + 1))
        p.kill()
        p.wait()
    first = (work / "out").read_bytes()
    second, _ = tool("dedup", "--state", name, "keys", "-n", str(KEYS), "-p", RARE)
    whole = first[:first.rfind(b"\n") + 1].splitlines(True) + second.splitlines(True)
    check(set(whole) == set(lines), f"run {i}: {KEYS - len(set(whole))} lines are lost")

# A reader that stops reading while we are interrupted: what it did not take is not seen.
p = subprocess.Popen([BLOOMERY, "dedup", "--state", "stuck.blm", "keys"], stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE)
time.sleep(0.3)
p.send_signal(signal.SIGINT)
got, err = p.communicate()
check(p.returncode == 2, f"exit {p.returncode}: {err}")
rest, _ = tool("dedup", "--state", "stuck.blm", "keys")
whole = got[:got.rfind(b"\n") + 1].splitlines(True)
check(set(whole) | set(rest.splitlines(True)) == set(lines), "none is lost")

# A signal that was ignored when we started stays ignored (nohup, background jobs).
tool("create", "nohup.blm", "-n", "1000", "--quiet")
p = subprocess.Popen(["sh", "-c", f"trap '' HUP INT; exec '{BLOOMERY}' add nohup.blm"],
                     stdin=subprocess.PIPE, stderr=subprocess.PIPE)
feed(p, 10)
wait_for(lambda: has("nohup.blm", lines[9]), "the last key")
p.send_signal(signal.SIGHUP)
p.send_signal(signal.SIGINT)
err = p.communicate()[1].decode()
check(p.returncode == 0, f"exit {p.returncode}: {err}")
