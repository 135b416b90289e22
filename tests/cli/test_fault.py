# SPDX-License-Identifier: MIT
"""A filter's file that is cut, or overwritten by a shorter one, under a command that has it mapped:
the command says so and exits with 2, where the system's answer is a silent SIGBUS."""
import array
import fcntl
import os
import subprocess
import termios
import time

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.fault")
os.chdir(work)
SAYS = b": the file was cut or overwritten while it was in use, or the disk failed: use another copy\n"
lines = b"".join(b"%d\n" % i for i in range(20000))
(work / "keys").write_bytes(lines)


def waiting(pipe):
    """Bytes in a pipe that nobody has read yet."""
    n = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, n)
    return n[0]


def cut(path):
    os.truncate(path, 4096)


def overwrite(path):
    path.write_bytes(b"something shorter\n")


for spoil in (cut, overwrite):
    for words, name in ((["check", "-c"], "f.blm"), (["check"], "f.blm"), (["add"], "f.blm"),
                        (["dedup", "--state"], "a\n\x1b[31mb.blm")):
        path = work / name
        tool("create", path, "-n", "4e6", "--force", "--quiet")
        p = subprocess.Popen([BLOOMERY, *words, name, "--threads", "3"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdin.write(b"first\n")
        p.stdin.flush()
        while waiting(p.stdin) and p.poll() is None:  # keys are read when the file is open and mapped
            time.sleep(0.001)
        with open(f"/proc/{p.pid}/maps", encoding="utf-8", errors="replace") as maps:
            check(".blm" in maps.read(), f"{words}: not mapped when keys are read")
        spoil(path)
        try:
            p.stdin.write(lines)
            p.stdin.close()
        except BrokenPipeError:
            pass
        p.stdout.read()
        err = p.stderr.read()
        p.wait(60)
        shown = str(path).encode().replace(b"\n", b"\\012").replace(b"\x1b", b"\\x1b")
        told = b"bloomery " + words[0].encode() + b": "
        check(p.returncode == 2, f"{words} {spoil.__name__}: exit {p.returncode}: {err}")
        check(err.startswith(told) and err.endswith(SAYS) and err.count(b"\n") == 1, err)
        check(shown in err, err)
