# SPDX-License-Identifier: MIT
"""create --working-memory: the file that create makes in memory, byte for byte, however often the
command is killed, and where the disk is full on the way."""
import os
import random
import resource
import signal
import subprocess
import time

from tool import BLOOMERY, SLOW, check, scratch, tool

work = scratch("cli.spill")
os.chdir(work)
N = 3_000_000 if SLOW else 400_000
KILLS = 40 if SLOW else 8
with open("keys", "w") as f:
    f.writelines(f"{i * 7 % (N // 2 * 2)}\n" for i in range(N))

random.seed(17)
for kind, lines in (("classic", []), ("blocked", []), ("blocked", ["--lines", "2"])):
    same = ["-n", str(N), "-p", "1e-4", "--kind", kind, *lines, "--seed", "5", "--from", "keys",
            "-e", "int64"]
    tool("create", "want.blm", *same, "--quiet", "--force")
    began = time.monotonic()
    note = tool("create", "got.blm", *same, "--working-memory", "128K")[1].decode()
    took = time.monotonic() - began
    check("parts" in note and f"{N:,} keys added" in note, note)
    check(open("want.blm", "rb").read() == open("got.blm", "rb").read(), f"{kind}: not the same")
    check(sorted(os.listdir()) == ["got.blm", "keys", "want.blm"], os.listdir())
    os.remove("got.blm")

    # Killed at any moment, and run again until it ends.
    killed = 0
    for _ in range(KILLS):
        run = subprocess.Popen([BLOOMERY, "create", "got.blm", *same, "--working-memory", "128K"],
                               stderr=subprocess.PIPE)
        try:
            run.wait(random.uniform(0, took * 1.1))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            killed += 1
        run.stderr.close()
        if os.path.exists("got.blm"):
            break
    # A kill may come after the filter has its name and before its directory is gone.
    if not os.path.exists("got.blm") or os.path.exists("got.blm.spill"):
        tool("create", "got.blm", *same, "--working-memory", "128K", "--quiet", "--force")
    check(open("want.blm", "rb").read() == open("got.blm", "rb").read(),
          f"{kind}: not the same after {killed} kills")
    check(not os.path.exists("got.blm.spill"), "the directory is still there")
    os.remove("got.blm")

# ---- interrupted: what was read is kept, and the command says how to go on
same = ["-n", str(N), "-p", "1e-4", "--seed", "5", "--from", "-", "-e", "int64"]
run = subprocess.Popen([BLOOMERY, "create", "got.blm", *same, "--working-memory", "64K"],
                       stdin=subprocess.PIPE, stderr=subprocess.PIPE)
run.stdin.write(b"".join(b"%d\n" % i for i in range(100_000)))
run.stdin.flush()
time.sleep(0.3)
run.send_signal(signal.SIGINT)
_, err = run.communicate()
check(run.returncode != 0 and b"run the command again to go on" in err, err)
check(os.path.isdir("got.blm.spill") and not os.path.exists("got.blm"), os.listdir())

# ---- other keys, other parameters
other = "".join(f"{i}\n" for i in range(1, 200_000)).encode()
err = tool("create", "got.blm", *same, "--working-memory", "64K", input=other, code=2)[1].decode()
if "of an earlier run" in err:
    check("these are not the keys" in err, err)
same[1] = str(N * 2)
err = tool("create", "got.blm", *same, "--working-memory", "64K", input=b"1\n", code=2)[1].decode()
check("other parameters" in err, err)

# ---- a directory that is missing: said before anything is filled, and the keys are kept
same = ["-n", "400000", "-p", "1e-4", "--seed", "5", "--working-memory", "64K", "--spill", "late", "--from", "-"]
err = tool("create", "later/got.blm", *same, input=b"1\n2\n3\n", code=2)[1].decode()
check("no such file or directory" in err and "words" not in os.listdir("late"), err)
os.mkdir("later")
err = tool("create", "later/got.blm", *same, input=b"1\n2\n4\n", code=2)[1].decode()
check("these are not the keys" in err, err)

# ---- other keys when all have come: the filter could not be saved, a file may only be as long as its words
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
tool("create", "later/got.blm", *same, input=b"1\n2\n3\n", code=2)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
check("words" in os.listdir("late"), os.listdir("late"))
for other in (b"1\n2\n4\n", b"1\n2\n3\n4\n", b"1\n2\n", b""):
    err = tool("create", "later/got.blm", *same, input=other, code=2)[1].decode()
    check("these are not the keys" in err or "fewer keys" in err, err)
    check(not os.listdir("later"), os.listdir("later"))
tool("create", "later/got.blm", *same, input=b"1\n2\n3\n")
check(os.listdir("later") == ["got.blm"] and not os.path.exists("late"), os.listdir("later"))

# ---- a directory with files of one's own: they are left alone, and so is an empty directory
os.mkdir("own")
for name in ("words", "part.0", "notes"):
    with open(f"own/{name}", "w") as f:
        f.write("1\n2\n3\n")
    same[same.index("--spill") + 1] = "own"
    err = tool("create", "own.blm", *same[:-1], f"own/{name}", code=2)[1].decode()
    check("own" in err and "give one that is empty" in err, err)
    check(os.listdir("own") == [name] and open(f"own/{name}").read() == "1\n2\n3\n", os.listdir("own"))
    os.remove(f"own/{name}")
tool("create", "own.blm", *same, input=b"1\n2\n3\n")
check(os.listdir("own") == [] and os.path.exists("own.blm"), os.listdir("own"))

# ---- a filter that fits needs no directory; kinds that cannot; options that do not go together
err = tool("create", "small.blm", "-n", "1000", "--from", "keys", "--working-memory", "1M")[1]
check(b"parts" not in err and os.path.exists("small.blm"), err)
err = tool("create", "c.blm", "-n", "1e6", "--kind", "counting", "--from", "keys",
           "--working-memory", "64K", code=2)[1]
check(b"classic and blocked" in err, err)
check(b"give --from" in tool("create", "d.blm", "-n", "10", "--working-memory", "1M", code=2)[1], "d")
check(b"already exists" in tool("create", "small.blm", "-n", "1e6", "--from", "keys",
                                "--working-memory", "64K", code=2)[1], "e")
