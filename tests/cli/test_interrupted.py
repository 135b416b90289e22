# SPDX-License-Identifier: MIT
"""SIGINT while patch waits for its delta and while convert waits for keys: a sentence, exit 2, the
old file as it was, and nothing left behind."""
import os
import signal
import subprocess

from tool import BLOOMERY, check, scratch, signal_when_calm, tool

work = scratch("cli.interrupted")
os.chdir(work)
(work / "keys").write_bytes(b"".join(b"%d\n" % i for i in range(1000)))
tool("create", "a.blm", "-n", "1000", "--seed", "1", "--quiet")
(work / "before").write_bytes((work / "a.blm").read_bytes())
tool("create", "b.blm", "-n", "1000", "--seed", "1", "--from", "keys", "--quiet")
delta = tool("diff", "a.blm", "b.blm", "--quiet")[0]


def interrupt(sent, *words):
    """Starts bloomery, sends it `sent`, and SIGINT when it waits for more."""
    there = set(os.listdir())
    p = subprocess.Popen([BLOOMERY, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdin.write(sent)
    p.stdin.flush()
    signal_when_calm(p, signal.SIGINT)
    p.wait(20)
    words_said = p.stderr.read().decode()
    check(p.returncode == 2, f"exit {p.returncode}: {words_said}")
    check(set(os.listdir()) == there, f"left behind: {set(os.listdir()) - there}")
    return words_said


for sent in (b"", delta[:50], delta[:-4]):
    said = interrupt(sent, "patch", "a.blm")
    check(said == "bloomery patch: interrupted; a.blm was not changed\n", said)
    check((work / "a.blm").read_bytes() == (work / "before").read_bytes(), "a.blm was changed")

said = interrupt((work / "keys").read_bytes(), "convert", "b.blm", "c.guava", "--to", "guava",
                 "--members", "-")
check(said == "bloomery convert: interrupted; c.guava was not written\n", said)

# ---- and when it is not interrupted
tool("patch", "a.blm", input=delta)
check(tool("check", "-c", "a.blm", "keys")[0] == b"1000\n", "patched")
