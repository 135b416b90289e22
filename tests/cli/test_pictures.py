# SPDX-License-Identifier: MIT
"""Pictures fit the terminal they are drawn on, 72 columns where there is none; and what is no
picture at all, a delta, is not sent to a terminal or waited for from one."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import unicodedata

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.pictures")
os.chdir(work)
(work / "keys").write_bytes(b"".join(b"%d\n" % i for i in range(5000)))
tool("create", "a.blm", "-n", "5000", "--from", "keys", "--quiet")


def on_terminal(width, *words, stdin=subprocess.DEVNULL):
    """Runs bloomery on a terminal of this width. Returns (status, text)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    p = subprocess.Popen([BLOOMERY, *words], stdin=slave if stdin is None else stdin, stdout=slave,
                         stderr=slave, env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"})
    os.close(slave)
    screen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        screen += piece
    status = p.wait()
    os.close(master)
    return status, screen.decode().replace("\r\n", "\n")


def widest(text, *marks):
    """Columns of the widest line that is part of a picture."""
    lines = [line for line in text.splitlines() if any(m in line for m in marks)]
    check(lines, f"no picture: {text}")
    check(not any(unicodedata.east_asian_width(c) in "WF" for line in lines for c in line), lines)
    return max(map(len, lines))


# ---- no letters that a locale without them could not show
for locale, ascii_only in (({"LC_ALL": "C"}, True), ({"LC_ALL": "", "LANG": "POSIX"}, True), ({}, True),
                           ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, True),
                           ({"LC_CTYPE": "C", "LANG": "de_DE.UTF-8"}, True),
                           ({"LANG": "de_DE.utf8"}, False), ({"LC_ALL": "C.UTF-8"}, False)):
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG")}
    for words in (["info", "--plot", "a.blm"], ["calc", "-n", "1e6", "-p", "0.01", "--plot"]):
        text = tool(*words, env={**env, **locale})[0]
        check(text.isascii() == ascii_only, f"{words} with {locale}: {text.decode()}")

os.environ["LC_ALL"] = "C.UTF-8"
FRAME = ("┤", "│", "└")
for words in (["info", "--plot", "a.blm"], ["calc", "-n", "1e6", "-p", "0.01", "--plot"]):
    check(widest(tool(*words)[0].decode(), *FRAME) == 72, words)
    for terminal, width in ((50, 50), (100, 100), (20, 40), (1000, 240)):
        status, text = on_terminal(terminal, *words)
        check(status == 0, text)
        check(widest(text, *FRAME) == width, f"{words} on {terminal}: {widest(text, *FRAME)}")

# ---- the fill that is drawn is the fill that is there
tool("create", "empty.blm", "-n", "5000", "--quiet")
picture = tool("info", "--plot", "empty.blm")[0].decode().split("fill over the filter")[1]
check(not set(picture) & set("▁▂▃▄▅▆▇█"), "bars in an empty filter")
tool("create", "full.blm", "-m", "1024", "-k", "8", "--from", "keys", "--quiet")
picture = tool("info", "--plot", "full.blm")[0].decode().split("fill over the filter")[1]
check(picture.count("█") == 8 * 65, picture)

# ---- deltas
status, text = on_terminal(80, "diff", "a.blm", "a.blm")
check(status == 2 and "cannot be written to a terminal" in text, text)
status, text = on_terminal(80, "patch", "a.blm", stdin=None)
check(status == 2 and "< DELTA" in text, text)
