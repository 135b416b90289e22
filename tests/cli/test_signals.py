# SPDX-License-Identifier: MIT
"""SIGKILL and SIGINT in the middle of add and of dedup --state: the file is valid, says where it
was, and no line is lost. Also what nohup does, and a second writer after a killed one.

Filters have fixed seeds, so that which lines they would take for others is the same on every run;
where dedup makes its own, lines are few: two of 20 000 have the same 64-bit hash once in 1e11 runs."""
import fcntl
import os
import signal
import struct
import subprocess
import termios
import time

from tool import BLOOMERY, SLOW, check, count, scratch, tool

work = scratch("cli.signals")
os.chdir(work)
KEYS = 400000 if SLOW else 200000
FEW = 20000
lines = [f"https://example.com/page/{i}\n".encode() for i in range(KEYS)]
(work / "keys").write_bytes(b"".join(lines))
(work / "few").write_bytes(b"".join(lines[:FEW]))
(work / "fed").write_bytes(b"".join(lines[:100000]))


def waiting(pipe):
    """Bytes in a pipe that nobody has read."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def feed(process, upto):
    """Gives the first lines, and waits until the process has taken them: it catches signals before
    it reads."""
    process.stdin.write(b"".join(lines[:upto]))
    process.stdin.flush()
    wait_for(lambda: waiting(process.stdin) == 0, "who reads")


def wait_for(truth, what):
    for _ in range(6000):
        if truth():
            return
        time.sleep(0.01)
    check(False, f"{what} never came")


def has(filter_, key):
    """Is the key in it, and one that never comes not? While a layer is on its way into a file
    everything may be there, and nothing is known."""
    done = subprocess.run([BLOOMERY, "check", filter_], input=key + b"no such page\n",
                          capture_output=True, check=False)
    check(done.returncode in (0, 1), f"{filter_} can be asked")
    return done.stdout == key


# ---- add
for kind in ("blocked", "counting", "scalable"):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        name = f"{kind}-{number.name}.blm"
        size = "1000" if kind == "scalable" else str(KEYS)
        tool("create", name, "-n", size, "-p", "1e-6", "--kind", kind, "--seed", "1",
             "--quiet")
        p = subprocess.Popen([BLOOMERY, "add", name], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        feed(p, 100000)
        # All of them: the last one's bits may be seen before those of others in its batch.
        wait_for(lambda: has(name, lines[99999]) and count(name, "fed") == 100000, "every key")
        p.send_signal(number)
        p.wait(30) if number == signal.SIGKILL else None
        err = p.communicate()[1].decode()
        if number == signal.SIGKILL:
            check(p.returncode == -number, "killed")
        else:
            check(p.returncode == 2, f"exit {p.returncode} after {number.name}")
            finish = ("only the rest of the input to finish, because keys that are added again are counted twice"
                      if name.startswith("counting") else "the same input again to finish")
            check(err == f"bloomery add: interrupted after 100,000 keys; {name} is valid and holds "
                         f"every key added so far: add {finish}\n", err)
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
p.send_signal(signal.SIGINT)
err = p.communicate()[1].decode()
check(p.returncode == 2, f"exit {p.returncode}")
check(err.startswith("bloomery create: interrupted after ") and "was not made" in err, err)
check((work / "old.blm").read_bytes() == before, "the old file is whole")
check(not [x for x in os.listdir() if x.startswith("old.blm") and x != "old.blm"], "no litter")

# ---- remove
(work / "first").write_bytes(b"".join(lines[:1000]))
tool("create", "count.blm", "-n", str(KEYS), "-p", "1e-6", "--kind", "counting", "--seed", "1",
     "--from", "keys", "--quiet")
p = subprocess.Popen([BLOOMERY, "remove", "count.blm"], stdin=subprocess.PIPE,
                     stderr=subprocess.PIPE)
feed(p, 1000)
wait_for(lambda: not has("count.blm", lines[999]), "the last remove")
p.send_signal(signal.SIGINT)
err = p.communicate()[1].decode()
check(p.returncode == 2, f"exit {p.returncode}")
check(err == "bloomery remove: interrupted after line 1,000 of the input; count.blm is valid: "
             "continue with the next line\n", err)
check(count("count.blm", "keys") == KEYS - 1000, "the others are there")

# ---- dedup --state
# A line that the filter takes for a seen one would look like one that was lost; with this seed and
# rate there is none.
def seeded(name, kind, items):
    tool("create", name, "--kind", kind, "-n", items, "-p", "1e-9", "--seed", "1", "--quiet")
    return name


for number in (signal.SIGINT, signal.SIGKILL):
    name = seeded(f"state-{number.name}.blm", "scalable", 30000)
    with open("out", "wb") as out:
        p = subprocess.Popen([BLOOMERY, "dedup", "--state", name], stdin=subprocess.PIPE,
                             stdout=out, stderr=subprocess.PIPE)
        feed(p, 100000)
        wait_for(lambda: os.path.getsize("out") == sum(map(len, lines[:100000])), "the output")
        wait_for(lambda: has(name, lines[99999]), "the last key")
        p.send_signal(number)
        err = p.communicate()[1].decode()
    if number == signal.SIGINT:
        check(p.returncode == 2, f"exit {p.returncode}")
        check(err == f"bloomery dedup: interrupted after 100,000 lines; {name} is valid and has "
                     "every line that was written: run the command again\n", err)
    rest, _ = tool("dedup", "--state", name, "keys")
    check(rest == b"".join(lines[100000:]), f"{number.name}: the rest, and only the rest")

# Killed at any moment, while it runs at full speed: what was printed and what the next run prints
# is everything. (Lines may come twice; none may be missing.) Every
# other time it also makes the state.
for i in range(24 if SLOW else 8):
    name, keys, count_of = f"race-{i}.blm", "few", FEW
    if i % 2:
        name, keys, count_of = seeded(name, "blocked", KEYS), "keys", KEYS
    words = ["dedup", "--state", name, keys] + ([] if i % 2 else ["-n", str(FEW), "-p", "1e-13"])
    with open("out", "wb") as out:
        p = subprocess.Popen([BLOOMERY, *words], stdout=out)
        time.sleep(0.002 * (i + 1))
        p.kill()
        p.wait()
    first = (work / "out").read_bytes()
    second, _ = tool(*words)
    whole = first[:first.rfind(b"\n") + 1].splitlines(True) + second.splitlines(True)
    check(set(whole) == set(lines[:count_of]),
          f"run {i}: {count_of - len(set(whole))} lines are lost")

# A reader that stops reading while we are interrupted: what it did not take is not seen.
seeded("stuck.blm", "scalable", 30000)
p = subprocess.Popen([BLOOMERY, "dedup", "--state", "stuck.blm", "keys"], stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE)
wait_for(lambda: waiting(p.stdout) > 0, "output")
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
