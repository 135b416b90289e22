# SPDX-License-Identifier: MIT
"""The command line against a server: create, add, check, remove, dedup --state, info, verify, convert and
the others; passwords, databases, sockets, odd keys; a connection that breaks; what is refused, and how."""
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time

import server
from server import BLOOMERY, Server, bloomery

LINES = b"".join(b"key%d\n" % i for i in range(20000))
OTHERS = b"".join(b"other%d\n" % i for i in range(20000))


def lines(data):
    return data.splitlines(keepends=True)


def create_add_check(s, c, ref, scheme):
    seed = ("--seed", "1") if scheme == "native" else ()  # one of 20 000 seeds finds "certainly not"
    out, err = bloomery("create", ref, "-n", "30000", "-p", "0.001", "--scheme", scheme, *seed)
    assert out == b"" and "30,000 keys" in err, err
    _, err = bloomery("create", ref, "-n", "10", "-p", "0.1", code=2)
    assert "already exists" in err and "--force" in err, err
    _, err = bloomery("add", ref, stdin=LINES)
    assert "20,000 keys added" in err, err
    out, _ = bloomery("check", ref, stdin=LINES)
    assert out == LINES
    out, _ = bloomery("check", "-v", ref, stdin=OTHERS)
    assert 19900 < len(lines(out)) <= 20000
    out, _ = bloomery("check", "-c", ref, stdin=LINES)
    assert out == b"20000\n"
    bloomery("check", "-q", ref, stdin=b"certainly not\n", code=1)
    _, err = bloomery("add", ref, stdin=LINES)
    assert "20,000 keys added, 0 new" in err, err
    # The whole of it: as the server counts, and as its bits say.
    out, _ = bloomery("info", "--json", ref)
    facts = json.loads(out)
    assert facts["format"] == scheme and facts["scheme"] == scheme and facts["filter"] == ref, facts
    key = "k-" + scheme
    assert facts["items"] == c("BF.CARD", key) and abs(facts["estimated"]["value"] - 20000) < 400
    # A seed may be one that the server drew: its value stays there.
    assert facts["seed_policy"] == ("fixed" if scheme == "native" else "none") and facts["seed"] is None
    out, _ = bloomery("info", ref)
    assert (b"seed        not shown" in out) == (scheme == "native") and b"0x" not in out, out
    keys = pathlib.Path(tempfile.mkstemp()[1])
    keys.write_bytes(LINES)
    out, _ = bloomery("verify", ref, "--members", keys)
    assert b"all of them found" in out and b"holds" in out, out
    keys.unlink()


def everyday(binary):
    with Server(binary=binary) as s:
        c = s.client()
        for scheme in ("native", "redisbloom"):
            create_add_check(s, c, f"redis://127.0.0.1:{s.port}/k-{scheme}", scheme)
        assert c("TYPE", "k-redisbloom") == "MBbloom--" != c("TYPE", "k-native")
        # create --force makes a new one in its place; --like one that can meet another.
        ref = f"redis://127.0.0.1:{s.port}/"
        bloomery("create", ref + "k-native", "-n", "500", "--force")
        assert c("BF.INFO", "k-native")[1] == 500 and c("TTL", "k-native") == -1
        bloomery("create", ref + "like", "--like", ref + "k-native")
        bloomery("add", ref + "like", stdin=b"a\n")
        bloomery("add", ref + "k-native", stdin=b"b\n")
        bloomery("merge", ref + "merged", ref + "like", ref + "k-native")
        assert c("BF.MEXISTS", "merged", "a", "b", "c") == [1, 1, 0]
        _, err = bloomery("merge", "--force", ref + "merged", ref + "merged", ref + "like", code=2)
        assert "BF.MERGE" in err, err
        bloomery("compare", ref + "like", ref + "merged")
        bloomery("intersect", ref + "common", ref + "like", ref + "merged")
        assert c("BF.MEXISTS", "common", "a", "b") == [1, 0]
        assert not [k for k in c("KEYS", "*") if b"loading" in k]
        # A filter filled past its plan goes on, as a file does, and this is said; the rate is the model's.
        with tempfile.TemporaryDirectory() as d:
            for kind in ("classic", "blocked", "counting"):
                said = []
                for where in (f"{d}/{kind}", ref + kind):
                    bloomery("create", where, "-n", "1000", "-p", "0.01", "--kind", kind)
                    _, err = bloomery("add", where, stdin=b"".join(lines(LINES)[:1000]))
                    assert "was planned for" not in err, err
                    _, err = bloomery("add", where, stdin=b"".join(lines(LINES)[1000:1500]))
                    said.append(re.search(r"holds (?:about )?(1,\d+) keys but was planned for 1,000: its rate is now (?:about )?([\d.]+)%, "
                                          r"not 1%: make a larger filter", err))
                    assert said[-1], err
                file, there = (float(m[2]) for m in said)
                assert "about" in said[1][0] and 0.8 < there / file < 1.25, (kind, file, there)
        _, err = bloomery("dedup", "--state", ref + "small", "-n", "1000", stdin=LINES)
        assert "was planned for 1,000: its rate is now about" in err, err
        bloomery("add", ref + "k-native", stdin=LINES)
        out, _ = bloomery("info", ref + "k-native")
        assert b"none: it is a key on a server" in out, out
        assert bloomery("check", "-c", ref + "k-native", stdin=LINES)[0] == b"20000\n"


def removing(binary):
    with Server(binary=binary) as s:
        c = s.client()
        ref = f"redis://127.0.0.1:{s.port}/counts"
        bloomery("create", ref, "-n", "30000", "-p", "0.001", "--kind", "counting")
        bloomery("add", ref, stdin=LINES)
        _, err = bloomery("remove", ref, stdin=b"".join(lines(LINES)[:15000]))
        assert "15,000 keys removed" in err, err
        out, _ = bloomery("check", ref, stdin=LINES)
        assert set(lines(LINES)[15000:]) <= set(lines(out)) and len(lines(out)) < 5300
        _, err = bloomery("remove", ref, stdin=b"never was\n", code=1)
        assert "1 never added" in err, err
        c("BF.ADD", "plain", "x")
        _, err = bloomery("remove", f"redis://127.0.0.1:{s.port}/plain", stdin=b"x\n", code=2)
        assert "keys cannot be removed" in err, err


def deduplicating(binary):
    with Server(binary=binary) as s:
        c = s.client()
        ref = f"redis://127.0.0.1:{s.port}/seen"
        twice = LINES + LINES
        out, _ = bloomery("dedup", "--state", ref, stdin=twice)
        assert out == LINES
        out, err = bloomery("dedup", "--state", ref, "--stats", stdin=LINES + OTHERS)
        assert out == OTHERS and "not known" in err, err
        _, err = bloomery("dedup", "--state", ref, "--json", stdin=b"key1\nnew\n")
        facts = json.loads(err)
        assert facts["unique"] == 1 and facts["rate_now"] is None, facts
        bloomery("dedup", "--state", ref + "2", "-n", "50000", "-p", "1e-6", stdin=LINES)
        assert abs(c("BF.CARD", "seen2") - 20000) <= 1 and c("BF.INFO", "seen2")[1] == 50000
        # A fleet: every line is printed by at least one, and hardly any by two.
        runs = [subprocess.Popen([BLOOMERY, "dedup", "--state", ref + "3"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE) for _ in range(3)] if \
            bloomery("dedup", "--state", ref + "3", stdin=b"first\n") else []
        outs = []
        threads = [threading.Thread(target=lambda r=r: outs.append(r.communicate(LINES)[0])) for r in runs]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert {x for o in outs for x in lines(o)} == set(lines(LINES))


def sharing(binary):
    """Between asking about lines and adding them a run has at most 4096 on the way: so many are printed
    while the server holds the adds."""
    with Server(binary=binary) as s, tempfile.TemporaryDirectory() as directory:
        c = s.client()
        ref = f"redis://127.0.0.1:{s.port}/seen"
        keys = pathlib.Path(directory) / "keys"
        keys.write_bytes(LINES)
        bloomery("dedup", "--state", ref)
        c("CLIENT", "PAUSE", "60000", "WRITE")
        with open(f"{directory}/out", "wb") as out:
            run = subprocess.Popen([BLOOMERY, "dedup", "--state", ref, str(keys)], stdout=out)
            server.until("it adds", lambda: b"cmd=bf.insert" in c("CLIENT", "LIST"))
            printed = lines(pathlib.Path(out.name).read_bytes())
            assert printed == lines(LINES)[:4096], len(printed)
            c("CLIENT", "UNPAUSE")
            assert run.wait(30) == 0
            assert pathlib.Path(out.name).read_bytes() == LINES


def starting_together(binary):
    """Runs that all find no state, and all make one: the first one's is used by the others. The server
    holds what writes until all have asked whether there is one."""
    with Server(binary=binary) as s:
        c = s.client()
        for name, options in [("grows", ()), ("fixed", ("-n", "1000"))]:
            ref = f"redis://127.0.0.1:{s.port}/{name}"
            c("CLIENT", "PAUSE", "60000", "WRITE")
            runs = [subprocess.Popen([BLOOMERY, "dedup", "--state", ref, *options], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
            for n, run in enumerate(runs):
                run.stdin.write(b"own%d\nof all\n" % n)
                run.stdin.close()
            server.until("all want to make it", lambda: sum(
                b"cmd=bf." in x for x in c("CLIENT", "LIST").splitlines()) == 8)
            c("CLIENT", "UNPAUSE")
            printed = set()
            for run in runs:
                printed |= set(lines(run.stdout.read()))
                err = run.stderr.read()
                assert run.wait(30) == 0 and err == b"", (run.returncode, err)
            assert printed == {b"own%d\n" % n for n in range(8)} | {b"of all\n"}, printed
            assert bloomery("check", "-c", ref, stdin=b"".join(printed))[0] == b"9\n"
        assert not [k for k in c("KEYS", "*") if b"loading" in k]


def converting(binary):
    with Server(binary=binary) as s, tempfile.TemporaryDirectory() as directory:
        c = s.client()
        d = pathlib.Path(directory)
        ref = f"redis://127.0.0.1:{s.port}/"
        c("BF.RESERVE", "chain", "0.01", "100")
        c("BF.MADD", "chain", *[f"key{i}" for i in range(5000)])
        # A chain: to a file, back to another key, equal to the bit; as a file of ours too.
        bloomery("convert", ref + "chain", d / "chain.rb", "--to", "redisbloom")
        bloomery("convert", d / "chain.rb", ref + "chain2", "--to", "redisbloom")
        assert server.dump(c, "chain") == server.dump(c, "chain2")
        assert b"".join(x for _, x in server.dump(c, "chain")) == (d / "chain.rb").read_bytes()
        bloomery("convert", ref + "chain", d / "chain.blm", "--to", "native")
        out, _ = bloomery("check", d / "chain.blm", stdin=LINES)
        assert set(lines(LINES)[:5000]) <= set(lines(out))
        # Filters of ours of every kind: there and back.
        for kind in ("classic", "blocked", "counting", "scalable"):
            bloomery("create", d / f"{kind}.blm", "-n", "5000", "-p", "0.01", "--kind", kind, "--from", "-",
                     stdin=b"".join(lines(LINES)[:4000]))
            bloomery("convert", d / f"{kind}.blm", ref + kind, "--to", "native")
            assert c("BF.MEXISTS", kind, *[f"key{i}" for i in range(4000)]) == [1] * 4000
            bloomery("convert", ref + kind, d / f"{kind}2.blm", "--to", "native")
            bloomery("convert", d / f"{kind}.blm", d / f"{kind}3.blm", "--to", "native")
            assert (d / f"{kind}2.blm").read_bytes() == (d / f"{kind}3.blm").read_bytes(), kind
        # Not over what is there, unless told; and then all at once.
        before = server.dump(c, "chain2")
        _, err = bloomery("convert", d / "classic.blm", ref + "chain2", "--to", "native", code=2)
        assert "already exists" in err and server.dump(c, "chain2") == before
        bloomery("convert", d / "classic.blm", ref + "chain2", "--to", "native", "--force")
        assert c("TYPE", "chain2") == c("TYPE", "classic") and c("TTL", "chain2") == -1
        # Another scheme is rebuilt from its keys, straight to the server.
        (d / "keys").write_bytes(b"".join(lines(LINES)[:4000]))
        bloomery("convert", d / "classic.blm", ref + "rebuilt", "--to", "redisbloom", "--members", d / "keys")
        assert c("TYPE", "rebuilt") == "MBbloom--"
        assert c("BF.MEXISTS", "rebuilt", *[f"key{i}" for i in range(4000)]) == [1] * 4000
        _, err = bloomery("convert", d / "classic.blm", ref + "q", "--to", "guava", "--members", d / "keys", code=2)
        assert "native or redisbloom" in err, err
        delta, _ = bloomery("diff", ref + "classic", ref + "chain2")
        assert delta
        _, err = bloomery("patch", ref + "classic", stdin=delta, code=2)
        assert "bloomery convert" in err, err
        assert not [k for k in c("KEYS", "*") if b"loading" in k]


def references(binary):
    """Users and passwords, databases, sockets, keys of any bytes; no password in any word."""
    with Server(("requirepass", "p%w/d:@"), binary=binary) as s:
        c = s.client()
        c("AUTH", "p%w/d:@")
        c("ACL", "SETUSER", "ann", "on", ">secret", "~*", "+@all")
        c("ACL", "SETUSER", "ben", "on", ">weak", "~ben:*", "+@all")
        host = f"127.0.0.1:{s.port}"
        bloomery("create", f"redis://:p%25w%2Fd%3A%40@{host}/a%20b%2F%00%ff", "-n", "100")
        assert c("KEYS", "*") == [b"a b/\0\xff"]
        bloomery("create", f"redis://ann:secret@{host}/3/deep/er/key", "-n", "100")
        c("SELECT", 3)
        assert c("KEYS", "*") == [b"deep/er/key"]
        c("SELECT", 0)
        bloomery("add", f"redis://{host}/3/deep/er/key", stdin=b"x\n", env={"REDISCLI_AUTH": "p%w/d:@"})
        path = s.directory / "socket"
        for form in (f"unix://ann:secret@{path}?db=3#deep/er/key", f"redis+unix://ann:secret@{path}?db=3#deep%2Fer/key"):
            assert bloomery("check", "-c", form, stdin=b"x\ny\n")[0] == b"1\n"
        assert bloomery("check", "-c", f"unix:{path}?db=3&timeout=5#deep/er/key", stdin=b"x\n",
                        env={"REDISCLI_AUTH": "p%w/d:@"})[0] == b"1\n"
        for reference, words in [(f"redis://{host}/k", "needs a password"), (f"redis://ann:wrong1@{host}/k", "refuses this user"),
                                 (f"redis://ben:weak@{host}/other", "permission"),
                                 (f"redis://ann:secret@{host}/77/k", "out of range"),
                                 (f"redis://ann:secret@{host}/k", "no such key")]:
            for command in (("add",), ("check",), ("info",), ("verify",)):
                _, err = bloomery(*command, reference, stdin=b"x\n", code=2)
                assert words in err, (reference, command, err)
                assert "wrong1" not in err and "weak" not in err and "secret" not in err, err
                assert len(err.splitlines()) == 1, err
        c("SET", "text", "x")
        for command in ("add", "check", "info"):
            _, err = bloomery(command, f"redis://ann:secret@{host}/text", stdin=b"x\n", code=2)
            assert "holds a string" in err and "secret" not in err, err
        # Nor in what ps shows.
        run = subprocess.Popen([BLOOMERY, "dedup", f"--state=redis://ann:secret@{host}/ps"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        run.stdin.write(b"x\n")
        run.stdin.flush()
        assert run.stdout.readline() == b"x\n"
        shown = pathlib.Path(f"/proc/{run.pid}/cmdline").read_bytes()
        assert b"secret" not in shown and host.encode() in shown, shown
        run.stdin.close()
        assert run.wait(30) == 0


def without_module(binary):
    with Server(binary=binary, module=False) as s:
        ref = f"redis://127.0.0.1:{s.port}/k"
        _, err = bloomery("create", ref, "-n", "100", code=2)
        assert "module" in err, err
        _, err = bloomery("create", ref, "-n", "100", "--scheme", "redisbloom", code=2)
        assert "load bloomery's module" in err, err
        _, err = bloomery("dedup", "--state", ref, stdin=b"x\n", code=2)
        assert "load bloomery's module" in err and "--scheme" not in err, err
        assert s.client()("DBSIZE") == 0


class Proxy:
    """Between client and server: cuts the connection after so many bytes of requests, a few times; with
    `mute`, the answers to the last of them never arrive."""

    def __init__(self, port, after, times, mute=False):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target, self.after, self.times, self.cuts, self.mute = port, after, times, 0, mute
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                a, _ = self.listener.accept()
            except OSError:
                return
            b = socket.create_connection(("127.0.0.1", self.target))
            cut, ends = self.cuts < self.times, threading.Event()
            threading.Thread(target=self.pump, args=(a, b, self.after if cut else None, ends), daemon=True).start()
            threading.Thread(target=self.pump, args=(b, a, None, ends), daemon=True).start()

    def pump(self, a, b, limit, ends):
        passed = 0
        try:
            while data := a.recv(65536):
                passed += len(data)
                if limit is not None and passed > limit:
                    ends.set()
                if limit is not None or not (self.mute and ends.is_set()):
                    b.sendall(data)
                if limit is not None and passed > limit:
                    self.cuts += 1
                    time.sleep(0.05)  # the server has got it, and may have done it
                    break
        except OSError:
            pass
        for x in (a, b):
            try:
                x.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def broken_connections(binary):
    with Server(binary=binary) as s:
        c = s.client()
        c("BF.RESERVE", "k", "0.0001", "50000")
        proxy = Proxy(s.port, 100_000, 2)
        ref = f"redis://127.0.0.1:{proxy.port}/k"
        _, err = bloomery("add", ref, stdin=LINES)
        assert proxy.cuts == 2 and "20,000 keys added" in err, (proxy.cuts, err)
        assert c("BF.MEXISTS", "k", *[x.strip() for x in lines(LINES)]) == [1] * 20000
        proxy = Proxy(s.port, 100_000, 2)
        out, _ = bloomery("check", f"redis://127.0.0.1:{proxy.port}/k", stdin=LINES)
        assert out == LINES and proxy.cuts == 2
        # Of keys sent twice the second answer is that they are not new, and what was new is not known.
        c("BF.RESERVE", "twice", "0.0001", "50000")
        proxy = Proxy(s.port, 100_000, 1, mute=True)
        _, err = bloomery("add", f"redis://127.0.0.1:{proxy.port}/twice", stdin=LINES)
        found = re.search(r"20,000 keys added, at least ([\d,]+) new", err)
        assert proxy.cuts == 1 and found and 10000 < int(found[1].replace(",", "")) < 20000, err
        # A server says no to all questions about a key that is gone: that is no answer.
        c("COPY", "k", "gone")
        run = subprocess.Popen([BLOOMERY, "check", f"redis://127.0.0.1:{s.port}/gone"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdin.write(b"key1\n")
        run.stdin.flush()
        assert run.stdout.readline() == b"key1\n"
        c("DEL", "gone")
        out, err = run.communicate(b"key2\n", timeout=30)
        assert run.returncode == 2 and out == b"" and b"no such key" in err, (run.returncode, out, err)
        # A counting filter is never sent the same key twice: trouble instead, and it says where it was.
        c("BF.RESERVE", "counts", "0.001", "50000", "KIND", "counting")
        proxy = Proxy(s.port, 100_000, 1)
        _, err = bloomery("add", f"redis://127.0.0.1:{proxy.port}/counts", stdin=LINES, code=2)
        assert "lost the connection" in err and "stopped after" in err, err
        # A push that breaks leaves what was there, and nothing else that stays.
        before = server.dump(c, "k")
        proxy = Proxy(s.port, 500_000, 1000)
        with tempfile.TemporaryDirectory() as d:
            bloomery("create", f"{d}/big.blm", "-n", "3e6")
            _, err = bloomery("convert", f"{d}/big.blm", f"redis://127.0.0.1:{proxy.port}/k?timeout=5", "--to", "native",
                              "--force", code=2)
            assert "lost the connection" in err, err
        assert server.dump(c, "k") == before
        for key in c("KEYS", "*loading*"):
            assert c("TTL", key) > 0, key
        # A server that says nothing.
        silent = socket.create_server(("127.0.0.1", 0))
        begin = time.monotonic()
        _, err = bloomery("check", f"redis://127.0.0.1:{silent.getsockname()[1]}/k?timeout=0.5", stdin=b"x\n", code=2)
        assert "did not answer within 0.5 seconds" in err and time.monotonic() - begin < 20, err


def windows_and_growth(binary):
    with Server(binary=binary) as s:
        c = s.client()
        ref = f"redis://127.0.0.1:{s.port}/"

        def told(key):
            return dict(zip(*[iter(c("BF.INFO", key))] * 2))

        # create --growth is the server's EXPANSION: RedisBloom's layout and ours.
        for growth in 1, 3, 10:
            for scheme in "redisbloom", "native":
                key = f"{scheme}-{growth}"
                kind = ("--kind", "scalable") if scheme == "native" else ()
                if scheme == "native" and growth == 1:
                    continue  # at least 2
                bloomery("create", ref + key, "-n", 100, "-p", "0.01", "--scheme", scheme, *kind, "--growth", growth)
                assert told(key)["Expansion rate"] == growth, told(key)
                bloomery("add", ref + key, stdin=LINES[:3000])
                assert told(key)["Number of filters"] > 1, told(key)
            layers = c("BF.DEBUG", f"redisbloom-{growth}")[1:3]
            assert [int(re.search(rb"capacity:(\d+)", x)[1]) for x in layers] == [100, 100 * growth], layers
        # dedup --window: the state is a window, and goes on in the next run.
        fresh = b"".join(b"line-%d\n" % i for i in range(3000))
        some = b"".join(lines(fresh)[:500])
        # dedup has no fixed seed: at its usual rate, 1e-6, one run in some hundreds would drop a new line.
        window = ("--window", 2000, "-p", "1e-9", "--state", ref + "last")
        out, _ = bloomery("dedup", *window, stdin=b"first\n" + some + b"first\n")
        assert out == b"first\n" + some, len(out)
        assert told("last")["Kind"] == "window" and told("last")["Window in items"] == 2000, told("last")
        out, _ = bloomery("dedup", *window, stdin=fresh)
        assert out.count(b"\n") == 2500, out.count(b"\n")
        out, _ = bloomery("dedup", "--state", ref + "last", stdin=b"first\n")  # 3 000 lines ago: forgotten
        assert out == b"first\n"
        out, _ = bloomery("dedup", "--window", "10m", "-n", 1000, "--state", ref + "time", stdin=b"a\nb\na\n")
        assert out == b"a\nb\n" and told("time")["Window in milliseconds"] == 600_000, told("time")
        assert bloomery("dedup", "--state", ref + "time", "-D", stdin=b"a\nc\n")[0] == b"a\n"
        bloomery("dedup", "--window", "0.2s", "-n", 1000, "--state", ref + "short", stdin=b"a\n")
        server.until("it is forgotten", lambda: c("BF.EXISTS", "short", "a") == 0)
        assert bloomery("dedup", "--state", ref + "short", stdin=b"a\n")[0] == b"a\n"
        c("BF.RESERVE", "plain", "0.01", 100)
        _, err = bloomery("dedup", "--window", 100, "--state", ref + "plain", stdin=b"a\n", code=2)
        assert "forgets nothing" in err, err


def main():
    for test in (everyday, removing, deduplicating, windows_and_growth, sharing, starting_together, converting, references,
                 without_module, broken_connections):
        server.each_server(test)
        print(f"  {test.__name__}", flush=True)


if __name__ == "__main__":
    os.environ.pop("REDISCLI_AUTH", None)
    server.run([main])
