# SPDX-License-Identifier: MIT
"""A filter that comes as a stream (-, /dev/stdin, a FIFO, a process substitution) is the filter in
the file, in every command, in formats with and without a magic number. What is changed there goes
to standard output."""
import json
import os
import subprocess
import threading

from tool import BLOOMERY, check, scratch, tool

work = scratch("cli.streams")
os.chdir(work)
(work / "keys").write_bytes(b"".join(b"key %d\n" % i for i in range(1000)))
(work / "more").write_bytes(b"".join(b"more %d\n" % i for i in range(20)))
SCHEMES = {"native": ["--seed", "1"], "guava": [], "go": [], "dcso": [], "dcso01": [],
           "redisbloom": [], "counting": ["--kind", "counting", "--seed", "1"]}
for name, words in SCHEMES.items():
    scheme = "native" if name == "counting" else name
    tool("create", name, "-n", 1100, "-p", "0.001", "--scheme", scheme, *words, "--from", "keys",
         "--quiet")
    tool("create", name + ".new", "--like", name, "--from", "keys", "--quiet")
    tool("add", name + ".new", "more", "--quiet")
with open("delta", "wb") as delta:
    delta.write(tool("diff", "native", "native.new", "--quiet")[0])

# F is the filter's place. What is printed, or written to out, must be the same for every place.
READS = ["info F", "info --json F", "check -c F keys", "check F more", "verify F --trials 1000",
         "compare F A", "compare A F", "merge out F A --force", "merge out A F --force",
         "intersect out F A --force", "convert F out --to native --force",
         "create out --like F --from more --force"]
CHANGES = ["add F more"]
ONLY = {"native": (["diff F native.new", "diff native.new F"], ["patch F <delta"]),
        "counting": ([], ["remove F more"])}


def run(command, words, data=None):
    """Runs it with these bytes, or the delta, as standard input."""
    with open("delta" if "<delta" in command else "/dev/null", "rb") as delta:
        source = {"stdin": delta} if data is None else {"input": data}
        done = subprocess.run([BLOOMERY, *words], capture_output=True, check=False, timeout=60,
                              **source)
    check(done.returncode in (0, 1), f"{command}: exit {done.returncode}: {done.stderr.decode()}")
    out = open("out", "rb").read() if "out" in words else b""
    return done.returncode, done.stdout, out


def by_fifo(name, command, words):
    if os.path.exists("fifo"):
        os.remove("fifo")
    os.mkfifo("fifo")
    writer = threading.Thread(target=lambda: open("fifo", "wb").write(open(name, "rb").read()))
    writer.start()
    result = run(command, ["fifo" if w == "F" else w for w in words])
    writer.join()
    return result


def by_stdin(place):
    def how(name, command, words):
        return run(command, [place if w == "F" else w for w in words], open(name, "rb").read())
    return how


def by_substitution(name, command, words):
    line = " ".join(f"<(cat {name})" if w == "F" else w for w in words)
    done = subprocess.run(["bash", "-c", f"'{BLOOMERY}' {line}" + (
        " <delta" if "<delta" in command else "")], capture_output=True, check=False, timeout=60)
    check(done.returncode in (0, 1), f"{command}: exit {done.returncode}: {done.stderr.decode()}")
    return done.returncode, done.stdout, open("out", "rb").read() if "out" in words else b""


def plain(result):
    """Without what truly differs: the name, and that a stream is not mapped."""
    code, text, out = result
    if text[:4].isascii():
        text = b"\n".join(line for line in text.splitlines() if not any(
            word in line for word in (b"fifo", b"/dev/", b"standard input", b"writer", b"mapped",
                                      b"format", b"filter\"", b"checksums", b"huge_pages",
                                      b"kernel", b"native", b"guava", b"go", b"dcso",
                                      b"redisbloom", b"counting")))
    return code, text, out


def contents(name):
    said = json.loads(tool("info", "--json", name)[0])
    return [said[field] for field in ("format", "scheme", "kind", "bits", "probes", "ones", "items")
            ], tool("check", name, "more", code=None)[0]


count = 0
for name in SCHEMES:
    reads, changes = ONLY.get(name, ([], []))
    ways = [by_fifo, by_substitution, by_stdin("-"), by_stdin("/dev/stdin")]
    for command in READS + reads:
        if name == "redisbloom" and command.split()[0] in ("compare", "intersect"):
            continue  # a filter of several layers: not possible
        words = [name if w == "A" else w for w in command.split()] + ["--quiet"]
        expected = plain(run(command, [name if w == "F" else w for w in words]))
        for way in ways:
            check(plain(way(name, command, words)) == expected, f"{name}: {command}, by {way}")
            count += 1
    for command in CHANGES + changes:
        words = [w for w in command.split() if w != "<delta"] + ["--quiet"]
        subprocess.run(["cp", name, "changed"], check=True)
        run(command, ["changed" if w == "F" else w for w in words])
        for way in ways[:2] if "<delta" in command else ways:
            _, text, _ = way(name, command, words)
            open("streamed", "wb").write(text)
            check(contents("streamed") == contents("changed"), f"{name}: {command}, by {way}")
            count += 1
check(count > 300, count)

# ---- what is there stays there, and what cannot be is refused before it is read
for words, said in (
        (["check", "/dev/stdin"], b"the filter is read from standard input: give the keys as files"),
        (["patch", "/dev/stdin"], b"the delta is read from standard input"),
        (["compare", "-", "/dev/stdin"], b"only one filter can come from standard input"),
        (["dedup", "--state", "fifo", "keys"], b"--state fifo is not possible"),
        (["create", "fifo", "-n", "10"], b"fifo: not a regular file: use - for standard output"),
        (["create", "fifo", "-n", "10", "--force"], b"fifo: not a regular file: use - for")):
    err = tool(*words, code=2, input=b"")[1]
    check(said in err and err.count(b"\n") == 1, f"{words}: {err}")
check(os.path.exists("fifo"), "the FIFO is still there")
