# SPDX-License-Identifier: MIT
"""build --memory: the file that build makes in memory, byte for byte, however often the command is
killed; what it says where it stops."""
import os
import random
import signal
import subprocess
import time

from tool import BLOOMERY, SLOW, check, scratch, tool

work = scratch("cli.build_disk")
os.chdir(work)
N = 2_500_000 if SLOW else 200_000
KILLS = 30 if SLOW else 8
with open("in", "w") as f:
    f.writelines(f"{i * 7 % (N // 2 * 2)}\n" for i in range(N))
with open("out", "w") as f:
    f.writelines(f"{N + i}\n" for i in range(N * 2))
MEMORY = ["--memory", "1M"]

random.seed(17)
for kind, more in (("static", []), ("cascade", ["--exclude", "out"]), ("classic", []), ("blocked", [])):
    same = ["--include", "in", *more, "--kind", kind, "-p", "0.1%", "--seed", "5", "-e", "int64"]
    tool("build", "want.blm", *same, "--quiet", "--force")
    began = time.monotonic()
    note = tool("build", "got.blm", *same, *MEMORY)[1].decode()
    took = time.monotonic() - began
    check(f"got.blm: {kind}, " in note, note)
    check(open("want.blm", "rb").read() == open("got.blm", "rb").read(), f"{kind}: not the same")
    check(sorted(os.listdir()) == ["got.blm", "in", "out", "want.blm"], os.listdir())
    os.remove("got.blm")

    # Killed at any moment, and run again until it ends.
    killed = 0
    for _ in range(KILLS):
        run = subprocess.Popen([BLOOMERY, "build", "got.blm", *same, *MEMORY], stderr=subprocess.PIPE)
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
        tool("build", "got.blm", *same, *MEMORY, "--quiet", "--force")
    check(open("want.blm", "rb").read() == open("got.blm", "rb").read(),
          f"{kind}: not the same after {killed} kills")
    check(not os.path.exists("got.blm.spill"), "the directory is still there")
    os.remove("got.blm")

# ---- interrupted: what was read is kept, and the command says how to go on
same = ["--include", "-", "--kind", "static", "-p", "0.1%", "--seed", "5", "-e", "int64"]
run = subprocess.Popen([BLOOMERY, "build", "got.blm", *same, "--memory", "1M"],
                       stdin=subprocess.PIPE, stderr=subprocess.PIPE)
run.stdin.write(b"".join(b"%d\n" % i for i in range(100_000)))
run.stdin.flush()
while not os.path.exists("got.blm.spill/in.1"):  # some keys have come
    check(run.poll() is None, "it has ended")
    time.sleep(0.01)
run.send_signal(signal.SIGINT)
_, err = run.communicate()
check(run.returncode == 2 and b"run the command again to go on" in err, err)
check(os.path.isdir("got.blm.spill") and not os.path.exists("got.blm"), os.listdir())

# ---- other keys, fewer keys, other parameters; and then the same ones
keys = [b"%d\n" % i for i in range(100_000)]
others = [*keys[1:], b"100000\n"]  # as many: all of them may have been read before the signal came
err = tool("build", "got.blm", *same, "--memory", "1M", input=b"".join(others), code=2)[1].decode()
check("of an earlier run" in err and "these are not the keys" in err, err)
err = tool("build", "got.blm", *same, "--memory", "1M", input=keys[0], code=2)[1].decode()
check("fewer keys" in err, err)
err = tool("build", "got.blm", *same, "--memory", "1M", "-p", "1%", input=keys[0], code=2)[1].decode()
check("other parameters" in err, err)
tool("build", "got.blm", *same, "--memory", "1M", "--quiet", input=b"".join(keys))
check(tool("check", "got.blm", "-c", "-e", "int64", input=b"".join(keys))[0] == b"100000\n", "keys are missing")
check(not os.path.exists("got.blm.spill"), os.listdir())

# ---- a key in both lists is named with its lines, and nothing stays behind
open("a", "w").write("x\ny\nz\n")
open("b", "w").write("1\nz\n")
err = tool("build", "both.blm", "--include", "a", "--exclude", "b", "--memory", "1M", code=2)[1].decode()
check("a: line 3 is also line 2 of b" in err, err)
check(not os.path.exists("both.blm") and not os.path.exists("both.blm.spill"), os.listdir())

# ---- a directory with files of one's own: they are left alone, and so is an empty directory
os.mkdir("own")
os.rename("a", "own/in")
err = tool("build", "own.blm", "--include", "own/in", "--memory", "1M", "--spill", "own", code=2)[1].decode()
check("own" in err and "give one that is empty" in err, err)
check(os.listdir("own") == ["in"] and open("own/in").read() == "x\ny\nz\n", os.listdir("own"))
os.rename("own/in", "a")
tool("build", "own.blm", "--include", "a", "--memory", "1M", "--spill", "own", "--quiet")
check(os.listdir("own") == [] and os.path.exists("own.blm"), os.listdir("own"))

# ---- options that do not go together
check(b"give --memory" in tool("build", "c.blm", "--include", "a", "--spill", "d", code=2)[1], "spill")
check(b"give a path" in tool("build", "-", "--include", "a", "--memory", "1M", code=2)[1], "stdout")
check(b"give 1M or more" in tool("build", "c.blm", "--include", "a", "--memory", "1023K", code=2)[1], "1023K")
tool("build", "c.blm", "--include", "a", "--working-memory", "1M", "--spill", "d", "--quiet")
check(not os.path.exists("d") and os.path.exists("c.blm"), os.listdir())
