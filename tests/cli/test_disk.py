# SPDX-License-Identifier: MIT
"""A full disk, on a small file system of our own: create leaves nothing, a replaced file stays
whole, a filter that cannot grow keeps what it has. Needs leave to mount (skipped where that is not
given, status 77)."""
import os
import subprocess
import sys

from tool import BLOOMERY, SOURCE, check, scratch

if "BLM_DISK" not in os.environ:
    work = scratch("cli.disk")
    inside = ["sh", "-c", f"mount -t tmpfs -o size=1m tmpfs '{work}' && exec '{sys.executable}' "
                          f"'{__file__}'"]
    env = {**os.environ, "BLM_DISK": str(work), "BLM_SOURCE": str(SOURCE)}
    for unshare in (["unshare", "-m"], ["unshare", "-rm"]):
        if subprocess.run([*unshare, "mount", "-t", "tmpfs", "tmpfs", str(work)],
                          capture_output=True, check=False).returncode == 0:
            sys.exit(subprocess.run([*unshare, *inside], env=env, check=False).returncode)
    print("skipped: no leave to mount a file system")
    sys.exit(77)

os.chdir(os.environ["BLM_DISK"])


def run(*words, **options):
    done = subprocess.run([BLOOMERY, *words], capture_output=True, check=False, text=True,
                          **options)
    return done.returncode, done.stdout, done.stderr


keys = "".join(f"key {i}\n" for i in range(20000))

# ---- create: says so, leaves nothing
code, out, err = run("create", "a.blm", "-n", "1e7")
check(code == 2, err)
check(err.startswith("bloomery create: a.blm: ") and err.count("\n") == 1 and
      err.endswith(": make room, or use another disk\n"), err)
check(os.listdir() == [], os.listdir())

# ---- create --from and --force: the old file stays whole
check(run("create", "a.blm", "-n", "1000", "-p", "1e-6", "--from", "-", "--quiet",
          input="old\n")[0] == 0, "the old one")
before = open("a.blm", "rb").read()
code, out, err = run("create", "a.blm", "-n", "1e7", "--from", "-", "--force", input="new\n")
check(code == 2 and "make room" in err, err)
check(os.listdir() == ["a.blm"] and open("a.blm", "rb").read() == before, "the old file is whole")
code, out, err = run("create", "a.blm", "-n", "1e7", "--force")
check(code == 2 and "make room" in err, err)
check(os.listdir() == ["a.blm"] and open("a.blm", "rb").read() == before, "the old file is whole")
os.remove("a.blm")

# ---- create --working-memory: a full spill directory stops it; with room again it goes on
with open("filler", "wb") as f:
    f.write(b"x" * 750000)
words = ["-n", "20000", "-p", "1e-9", "--seed", "3", "--from", "-"]
code, out, err = run("create", "big.blm", *words, "--working-memory", "64K", input=keys)
check(code == 2 and "no space left" in err and "run the command again to go on" in err, err)
check(sorted(os.listdir()) == ["big.blm.spill", "filler"], os.listdir())
os.remove("filler")
code, out, err = run("create", "big.blm", *words, "--working-memory", "64K", input=keys)
check(code == 0 and sorted(os.listdir()) == ["big.blm"], err)
check(run("create", "want.blm", *words, "--quiet", input=keys)[0] == 0, "in memory")
check(open("big.blm", "rb").read() == open("want.blm", "rb").read(), "not the same")
os.remove("big.blm")
os.remove("want.blm")

# ---- build --memory: the same
with open("filler", "wb") as f:
    f.write(b"x" * 750000)
words = ["--include", "-", "-p", "1e-6", "--kind", "static", "--seed", "3"]
code, out, err = run("build", "big.blm", *words, "--memory", "1M", input=keys)
check(code == 2 and "no space left" in err and "run the command again to go on" in err, err)
check(sorted(os.listdir()) == ["big.blm.spill", "filler"], os.listdir())
os.remove("filler")
code, out, err = run("build", "big.blm", *words, "--memory", "1M", input=keys)
check(code == 0 and "of an earlier run: going on" in err and os.listdir() == ["big.blm"], err)
check(run("build", "want.blm", *words, "--quiet", input=keys)[0] == 0, "in memory")
check(open("big.blm", "rb").read() == open("want.blm", "rb").read(), "not the same")
os.remove("big.blm")
os.remove("want.blm")

# ---- add to a filter that must grow and cannot: what was added is there, the file is valid
check(run("create", "s.blm", "--kind", "scalable", "-n", "1000", "-p", "1e-6", "--quiet")[0] == 0,
      "create")
many = "".join(f"key {i}\n" for i in range(1000000))
code, out, err = run("add", "s.blm", input=many)
lines = err.splitlines()
check(code == 2 and len(lines) == 2, f"{code}: {err}")
check(lines[0].startswith("bloomery add: s.blm: ") and "space" in lines[0], err)
check(lines[1].startswith("bloomery add: stopped after ") and "s.blm is valid" in lines[1], err)
added = int(lines[1].split()[4].replace(",", ""))
check(1000 < added < 1000000, err)
code, out, err = run("check", "-c", "s.blm", input="".join(many.splitlines(True)[:added]))
check(out == f"{added}\n", f"{out} of {added} are there")

# ---- dedup --state likewise: every line that was recorded was printed
os.remove("s.blm")
check(run("create", "s.blm", "--kind", "scalable", "-n", "1000", "-p", "1e-6", "--quiet")[0] == 0,
      "create")
code, out, err = run("dedup", "--state", "s.blm", input=many)
check(code == 2 and "s.blm: " in err and "space" in err and err.count("\n") == 1, err)
code, rest, err = run("check", "s.blm", input=many)
extra = set(rest.splitlines()) - set(out.splitlines())  # about one of a million is a wrong maybe
check(len(out.splitlines()) > 1000 and len(extra) < 15, f"{len(extra)} recorded and not printed")

# ---- output to a full disk: one line, and the state does not know what was not written
os.remove("s.blm")
check(run("create", "s.blm", "-n", "1000", "-p", "1e-6", "--quiet")[0] == 0, "create")
room = os.statvfs(".").f_bavail * os.statvfs(".").f_frsize
with open("filler", "wb") as f:
    f.write(bytes(room - 8192))
with open("out", "wb") as out:
    done = subprocess.run([BLOOMERY, "dedup", "--state", "s.blm"], input=keys[:16000].encode(),
                          stdout=out, stderr=subprocess.PIPE, check=False)
check(done.returncode == 2, done)
check(done.stderr == b"bloomery dedup: standard output: no space left on the device: make room, "
                     b"then run the command again\n", done.stderr)
check(run("check", "-c", "s.blm", input=keys[:16000])[1] == "0\n", "nothing is seen yet")

# ---- a disk that takes nothing is not a matter of permissions
os.chdir("/")
disk = os.environ["BLM_DISK"]
for name in os.listdir(disk):
    os.remove(f"{disk}/{name}")
run("create", f"{disk}/f.blm", "-n", "100", "--quiet")
run("create", f"{disk}/f.guava", "-n", "100", "--scheme", "guava", "--quiet")
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
for words, hint in ((["add", "f.blm"], "copy it to another disk, and change the copy"),
                    (["add", "f.guava"], "copy it to another disk, and change the copy"),
                    (["dedup", "--state", "f.blm"], "copy it to another disk, and change the copy"),
                    (["create", "new.blm", "-n", "10"], "use another disk"),
                    (["create", "f.blm", "-n", "10", "--force"], "use another disk")):
    code, out, err = run(*(f"{disk}/{w}" if "." in w else w for w in words), input="key\n")
    check(code == 2 and err.endswith(f": the file system is read-only: {hint}\n"), err)
