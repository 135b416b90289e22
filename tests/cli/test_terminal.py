# SPDX-License-Identifier: MIT
"""On a real pseudo-terminal: progress with rate and ETA after a second, none before, none with
--quiet, none in a file; colour there and nowhere else; NO_COLOR; no filter bytes to a terminal."""
import os
import pty
import re
import select
import signal
import subprocess
import time

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.terminal")
os.chdir(work)
LINES = 3000
(work / "keys").write_bytes(b"".join(b"key %d\n" % i for i in range(LINES)))
tool("create", "f.blm", "-n", "1e6", "--quiet")


def on_terminal(*words, slowly=0.0, stdout=None, env=None, whole=False):
    """Runs bloomery with standard error on a terminal (and standard output, when none is given),
    feeding keys by a pipe, in pieces over `slowly` seconds. Returns (status, screen bytes)."""
    master, slave = pty.openpty()
    import fcntl
    import struct
    import termios
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR",)}
    p = subprocess.Popen([BLOOMERY, *words], stdin=subprocess.PIPE,
                         stdout=slave if stdout is None else stdout, stderr=slave,
                         env={**plain, "TERM": "xterm", **(env or {})})
    os.close(slave)
    screen, start, sent = b"", time.monotonic(), 0
    while True:
        if p.stdin and time.monotonic() - start >= slowly * sent / 20:
            try:
                p.stdin.write(b"".join(b"key %d\n" % i for i in range(sent * 100, sent * 100 + 100)))
                p.stdin.flush()
            except BrokenPipeError:
                pass
            sent += 1
            if sent == 20:
                p.stdin.close()
                p.stdin = None
        if select.select([master], [], [], 0.01)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            screen += piece
    status = p.wait()
    os.close(master)
    return status, screen


# ---- nothing within a second
status, screen = on_terminal("dedup", stdout=subprocess.DEVNULL)
check((status, screen) == (0, b""), screen)

# ---- progress from a pipe: count and rate, no ETA; the line is taken away at the end
with open("out", "wb") as out:
    status, screen = on_terminal("dedup", stdout=out, slowly=1.6)
check(status == 0, screen)
check(re.search(rb"\r[0-9,]+ lines  [0-9.]+K?/s\x1b\[K", screen), screen)
check(b"ETA" not in screen, screen)
check(screen.endswith(b"\r\x1b[K"), screen)
check(len((work / "out").read_bytes().splitlines()) == 2000, "the data is not disturbed")

# ---- from a file whose size is known: share and ETA. A FIFO's end makes it slow; the file counts.
big = work / "big"
with open(big, "wb") as f:
    for i in range(60):
        f.write(b"".join(b"%d %d\n" % (i, j) for j in range(100000)))


def progress_of_file():
    """Slows the command down by stopping and continuing it, until it has run for a second."""
    master, slave = pty.openpty()
    with open("out", "wb") as out:
        p = subprocess.Popen([BLOOMERY, "dedup", str(big)], stdout=out, stderr=slave,
                             stdin=subprocess.DEVNULL)
    time.sleep(0.02)
    p.send_signal(signal.SIGSTOP)
    time.sleep(1.2)
    p.send_signal(signal.SIGCONT)
    p.wait()
    os.close(slave)
    screen = b""
    while select.select([master], [], [], 0.2)[0]:
        try:
            screen += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    return screen


screen = progress_of_file()
check(re.search(rb"\r[0-9,]+ lines  [0-9.]+[KM]?/s  [0-9]+%  ETA [0-9:]+\x1b\[K", screen), screen)

# ---- add: "keys"; --quiet: nothing
status, screen = on_terminal("add", "f.blm", slowly=1.4)
check(re.search(rb"\r[0-9,]+ keys  [0-9.]+K?/s\x1b\[K", screen), screen)
check(b"f.blm: 2,000 keys added" in screen, screen)
status, screen = on_terminal("add", "f.blm", "--quiet", slowly=1.4)
check((status, screen) == (0, b""), screen)

# ---- both streams on the terminal: the line is taken away before data is written
status, screen = on_terminal("dedup", slowly=1.6)
plain = re.sub(rb"\r[^\r\n]*\x1b\[K", b"", screen).replace(b"\r\n", b"\n")
check(plain == b"".join(b"key %d\n" % i for i in range(2000)), plain[-500:])

# ---- colour: on a terminal, not with NO_COLOR, not in a pipe
status, screen = on_terminal("check", "missing.blm")
check(status == 2 and screen.startswith(b"\x1b[1;31mbloomery check:\x1b[0m missing.blm"), screen)
status, screen = on_terminal("check", "missing.blm", env={"NO_COLOR": "1"})
check(status == 2 and b"\x1b" not in screen, screen)
status, screen = on_terminal("check", "missing.blm", env={"TERM": "dumb"})
check(status == 2 and b"\x1b" not in screen, screen)
check(b"\x1b" not in tool("check", "missing.blm", code=2)[1], "no colour in a pipe")

# ---- a filter is not written to a terminal
status, screen = on_terminal("create", "-", "-n", "1000")
check(status == 2 and b"standard output: is a terminal: send it to a file or a pipe" in screen,
      screen)

# ---- output before waiting: each answer arrives before the next question is asked
p = subprocess.Popen([BLOOMERY, "dedup"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for i in range(50):
    p.stdin.write(b"line %d\nline %d\n" % (i, i // 2))
    p.stdin.flush()
    check(p.stdout.readline() == b"line %d\n" % i, f"line {i} comes at once")
p.stdin.close()
check(p.stdout.read() == b"" and p.wait() == 0, "and nothing more")
