# SPDX-License-Identifier: MIT
"""The READMEs and docs/redis.md show sessions and shell lines: each is run on a server of its own, and prints what
the page says."""
import os
import re
import subprocess

import server
from server import BUILD, SOURCE, Server

PROMPT = "127.0.0.1:6379> "


def blocks(page):
    """The fenced blocks, without their fences."""
    return re.split(r"^```.*\n", (SOURCE / page).read_text(), flags=re.M)[1::2]


def shell(s, script):
    """Runs lines of a page in a directory with what they speak of; gives what they print, in order."""
    with open(s.directory / "urls.txt", "w") as urls:
        urls.writelines(f"https://example.com/{i}\n" for i in range(1000))
    (s.directory / "candidates.txt").write_text("https://example.com/7\nhttps://example.org/\n")
    script = script.replace("redis-cli", f"redis-cli -p {s.port}").replace("//localhost", f"//localhost:{s.port}")
    given = "crawl() { cat urls.txt urls.txt; }; fetch() { cat > fetched; }\n"
    done = subprocess.run(["sh", "-euc", given + script],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
                          cwd=s.directory, env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    assert done.returncode == 0, (script, done.stdout)
    return done.stdout.replace(f"//localhost:{s.port}", "//localhost")


def sessions():
    for page in ("README.md", "README.zh-CN.md", "docs/redis.md"):
        shown = [b for b in blocks(page) if PROMPT in b]
        assert len(shown) == 1, page
        with Server() as s:
            said = ""
            for line in shown[0].splitlines():
                if line.startswith(PROMPT):
                    said += f"{line}\n" + shell(s, "redis-cli --no-raw " + line[len(PROMPT):])
        assert said == re.sub(r"^\$.*\n", "", shown[0], flags=re.M), (page, said)


def command_lines():
    shown = [b for b in blocks("docs/redis.md") if b.startswith("$ bloomery")]
    assert len(shown) == 1
    with Server() as s:
        typed = re.findall(r"^\$ (.*)", shown[0], re.M)
        said = "".join(f"$ {line}\n" + shell(s, line) for line in typed)
        assert (s.directory / "fetched").read_text() == (s.directory / "urls.txt").read_text()
    assert said == shown[0], said


def keys_of_one_type():
    lines = [b for b in blocks("docs/redis.md") if "TYPE bloomery1" in b]
    assert len(lines) == 1
    with Server() as s:
        c = s.client()
        assert shell(s, lines[0]) == ""
        for i in range(200):
            c("SET", f"text{i}", "x")
            c("BF.ADD", f"chain{i}", "x")
            c("BF.RESERVE", f"ours{i}", 0.01, 100, "KIND", "classic")
        small = lines[0].replace("COUNT 10000", "COUNT 10")  # many pages
        assert small != lines[0]
        for script in (lines[0], small):
            assert sorted(shell(s, script).splitlines()) == sorted(f"ours{i}" for i in range(200))


server.run([sessions, command_lines, keys_of_one_type])
