# SPDX-License-Identifier: MIT
"""What the scripts here share on top of ../harness.py: the programs under test."""
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, SOURCE, before_all, check, scratch  # noqa: E402,F401

BLOOMERY = str(BUILD / "bloomery")
GENLINES = str(BUILD / "genlines")
SLOW = os.environ.get("BLM_SLOW") == "1"


def tool(*words, code=0, **options):
    """Runs bloomery; anything but this exit status (None: 0 or 1) ends the test. Returns (stdout,
    stderr)."""
    done = subprocess.run([BLOOMERY, *map(str, words)], capture_output=True, check=False, **options)
    if done.returncode != code and not (code is None and done.returncode in (0, 1)):
        sys.exit(f"exit {done.returncode}, not {code}: bloomery {' '.join(map(str, words))}\n"
                 f"{done.stderr.decode()}")
    return done.stdout, done.stderr


def count(filter_, keys, *words):
    """How many lines of the file may be in the filter."""
    done = subprocess.run([BLOOMERY, "check", "-c", filter_, keys, *words], capture_output=True,
                          check=False)
    check(done.returncode in (0, 1), f"check {filter_}: {done.stderr.decode()}")
    return int(done.stdout)


def asleep(pid):
    """Do all threads of a process wait for something?"""
    try:
        states = [Path(f"/proc/{pid}/task/{task}/stat").read_text().rsplit(")", 1)[1].split()[0]
                  for task in os.listdir(f"/proc/{pid}/task")]
    except OSError:  # one ended meanwhile
        return False
    return all(state == "S" for state in states)


def signal_when_calm(p, number):
    """The signal, when the process has read what it was sent and waits for more."""
    calm = 0
    while calm < 5 and p.poll() is None:
        calm = calm + 1 if asleep(p.pid) else 0
        time.sleep(0.01)
    p.send_signal(number)
