# SPDX-License-Identifier: MIT
"""On a real pseudo-terminal: progress with rate and ETA after a second, none before, none with
--quiet, none in a file; colour there and nowhere else; NO_COLOR; no filter bytes to a terminal."""
import os
import pty
import re
import select
import subprocess
import time

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.terminal")
os.chdir(work)
LINES = 3000
(work / "keys").write_bytes(b"".join(b"key %d\n" % i for i in range(LINES)))
tool("create", "f.blm", "-n", "1e6", "--quiet")


def feed(p, number):
    """A hundred keys more; nothing when the program has ended."""
    try:
        p.stdin.write(b"".join(b"key %d\n" % i for i in range(number * 100, number * 100 + 100)))
        p.stdin.flush()
    except BrokenPipeError:
        pass


def on_terminal(*words, slowly=0.0, until=None, stdout=None, env=None):
    """Runs bloomery with standard error on a terminal (and standard output, when none is given),
    feeding keys by a pipe: 2,000 in 20 pieces over `slowly` seconds, or until the screen shows
    what is waited for, however late the machine gets round to it. Returns (status, screen bytes,
    how many keys)."""
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
    pause = 0.05 if until else slowly / 20
    while True:
        if p.stdin and time.monotonic() - start >= pause * sent:
            feed(p, sent)
            sent += 1
            if re.search(until, screen) or sent == 1200 if until else sent == 20:
                try:
                    p.stdin.close()
                except BrokenPipeError:
                    pass
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
    return status, screen, sent * 100


# ---- nothing within a second (a run that took longer says nothing about that)
for _ in range(20):
    begin = time.monotonic()
    status, screen, _ = on_terminal("dedup", stdout=subprocess.DEVNULL)
    check(status == 0, screen)
    if time.monotonic() - begin < 1:
        check(screen == b"", screen)
        break

# ---- progress from a pipe: count and rate, no ETA; the line is taken away at the end
LINES_DONE = rb"\r[0-9,]+ lines  [0-9.]+K?/s\x1b\[K"
with open("out", "wb") as out:
    status, screen, fed = on_terminal("dedup", stdout=out, until=LINES_DONE)
check(status == 0, screen)
check(re.search(LINES_DONE, screen), screen)
check(b"ETA" not in screen, screen)
check(screen.endswith(b"\r\x1b[K"), screen)
check(len((work / "out").read_bytes().splitlines()) == fed, "the data is not disturbed")

# ---- from a file whose size is known: share and ETA. A reader that pauses makes it slow.
big = work / "big"
with open(big, "wb") as f:
    for i in range(12):
        f.write(b"".join(b"%d %d\n" % (i, j) for j in range(100000)))


def progress_of_file():
    """Its output fills a pipe, and is left there from its first byte on for more than a second."""
    master, slave = pty.openpty()
    p = subprocess.Popen([BLOOMERY, "dedup", str(big)], stdout=subprocess.PIPE, stderr=slave,
                         stdin=subprocess.DEVNULL)
    p.stdout.read(1)
    time.sleep(1.2)
    while p.stdout.read(1 << 20):
        pass
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
KEYS_DONE = rb"\r[0-9,]+ keys  [0-9.]+K?/s\x1b\[K"
status, screen, fed = on_terminal("add", "f.blm", until=KEYS_DONE)
check(re.search(KEYS_DONE, screen), screen)
check(b"f.blm: %s keys added" % f"{fed:,}".encode() in screen, screen)
status, screen, _ = on_terminal("add", "f.blm", "--quiet", slowly=1.4)
check((status, screen) == (0, b""), screen)

# ---- both streams on the terminal: the line is taken away before data is written
status, screen, fed = on_terminal("dedup", until=LINES_DONE)
check(re.search(LINES_DONE, screen), screen)
plain = re.sub(rb"\r[^\r\n]*\x1b\[K", b"", screen).replace(b"\r\n", b"\n")
check(plain == b"".join(b"key %d\n" % i for i in range(fed)), plain[-500:])

# ---- colour: on a terminal, not with NO_COLOR, not in a pipe
status, screen, _ = on_terminal("check", "missing.blm")
check(status == 2 and screen.startswith(b"\x1b[1;31mbloomery check:\x1b[0m missing.blm"), screen)
status, screen, _ = on_terminal("check", "missing.blm", env={"NO_COLOR": "1"})
check(status == 2 and b"\x1b" not in screen, screen)
status, screen, _ = on_terminal("check", "missing.blm", env={"TERM": "dumb"})
check(status == 2 and b"\x1b" not in screen, screen)
check(b"\x1b" not in tool("check", "missing.blm", code=2)[1], "no colour in a pipe")

# ---- a filter is not written to a terminal
status, screen, _ = on_terminal("create", "-", "-n", "1000")
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
