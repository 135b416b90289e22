# SPDX-License-Identifier: MIT
"""Every load of this directory at once, each for SECONDS (8, and 12 for Redis, as a test): nothing that
was acknowledged is lost, memory is flat. `make load` runs them for ten minutes, one after the other."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BLM_BUILD"])
THREADS = ("classic", "blocked", "counting", "cuckoo", "window", "guard")


def start(seconds):
    for what in THREADS:
        yield what, [str(BUILD / "load.threads"), what, seconds or "8"]
    yield "redis", [sys.executable, str(HERE / "redis.py"), seconds or "12"]


def main():
    seconds = sys.argv[1] if len(sys.argv) > 1 else None
    bad, running = [], []
    for what, command in start(seconds):
        process = subprocess.Popen(command)
        running.append((what, process))
        if seconds and process.wait() != 0: # one by one
            bad.append(what)
    for what, process in running:
        if process.wait() != 0 and what not in bad:
            bad.append(what)
    sys.exit(f"lost something, or grew: {', '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
