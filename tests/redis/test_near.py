# SPDX-License-Identifier: MIT
"""Near copies: what BF.CHANGES keeps and tells; copies that follow through delays, reloads, replaced
filters and a failover without a wrong no (near_model.c); `follow` and `check near+redis://`."""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import server
from cluster import Cluster
from server import BLOOMERY, Error, Server, bloomery

MODEL = pathlib.Path(os.environ.get("BLM_BUILD", "build")) / "redis.near_model"
LONG = os.environ.get("BLM_LONG") == "1"  # make test-cluster
SECONDS = 30 if LONG else 4


def refused(c, *words):
    try:
        c(*words)
    except Error as e:
        return str(e)
    raise AssertionError(words)


def full(c):
    """A server that is out of memory goes on telling, but takes no memory for another filter."""
    flags = " ".join(str(x) for x in c("COMMAND", "INFO", "BF.CHANGES")[0][2])
    assert "denyoom" not in flags and "readonly" in flags and "fast" not in flags, flags
    for key in ("known", "other"):
        c("BF.RESERVE", key, "0.01", "100", "KIND", "blocked")
    epoch = c("BF.CHANGES", "known")[0]
    c("BF.ADD", "known", "x")
    c("CONFIG", "SET", "maxmemory", "1")
    assert refused(c, "BF.ADD", "known", "y").startswith("OOM")
    told = c("BF.CHANGES", "known", epoch, 0)
    assert told[:2] == [epoch, 1] and len(told[2]) == 8, told
    assert refused(c, "BF.CHANGES", "other").startswith("OOM")
    c("CONFIG", "SET", "maxmemory", "0")
    assert c("BF.CHANGES", "other")[1] == 0


def command(s):
    c = s.client()
    assert "not found" in refused(c, "BF.CHANGES", "none")
    c("SET", "text", "x")
    assert "WRONGTYPE" in refused(c, "BF.CHANGES", "text")
    c("BF.RESERVE", "w", "0.01", "100", "WINDOW", "60")
    c("BF.RESERVE", "c", "0.01", "100", "KIND", "cuckoo")
    assert "windows and cuckoo" in refused(c, "BF.CHANGES", "w")
    assert "windows and cuckoo" in refused(c, "BF.CHANGES", "c")
    for key, width, options in (("native", 8, ("KIND", "blocked")), ("grows", 8, ("KIND", "scalable")),
                                ("chain", 16, ())):
        c("BF.RESERVE", key, "0.001", "1000", *options)
        c("BF.ADD", key, "before")
        epoch, at, nothing = c("BF.CHANGES", key)
        assert nothing is None and at == 0
        assert c("BF.CHANGES", key, epoch, 0) == [epoch, 0, b""]
        c("BF.MADD", key, "a", "b", "before", "a")
        c("BF.ADD", key, "c")
        c("BF.INSERT", key, "ITEMS", "d", "b")
        _, at, hashes = c("BF.CHANGES", key, epoch, 0)
        assert at == 4 and len(hashes) == 4 * width, (at, hashes)
        assert c("BF.CHANGES", key, epoch, 3) == [epoch, 4, hashes[3 * width:]]
        # Another epoch, the future, and what the ring no longer has: to be loaded again.
        assert c("BF.CHANGES", key, epoch + 1, 0) == [epoch, 4, None]
        assert c("BF.CHANGES", key, epoch, 5) == [epoch, 4, None]
        c("CONFIG", "SET", "bf.bf-changes-length", "100")
        other, at, _ = c("BF.CHANGES", key)
        assert other != epoch and at == 0
        c("BF.MADD", key, *[f"x{i}" for i in range(150)])
        assert c("BF.CHANGES", key, other, 0)[2] is None
        last = c("BF.CHANGES", key)[1]
        assert len(c("BF.CHANGES", key, other, last - 100)[2]) == 100 * width
        assert c("BF.CHANGES", key, other, last - 101)[2] is None
        c("CONFIG", "SET", "bf.bf-changes-length", "65536")
        # What changes the bits in another way ends the epoch; a copy of the key has its own.
        epoch = c("BF.CHANGES", key)[0]
        c("COPY", key, key + "2")
        c("BF.MERGE", key, key + "2")
        now = c("BF.CHANGES", key)[0]
        assert now != epoch != c("BF.CHANGES", key + "2")[0]
        c("RENAME", key, key + "3")
        assert c("BF.CHANGES", key + "3", now, 0) == [now, 0, b""]
        c("DEBUG", "RELOAD")
        assert c("BF.CHANGES", key + "3", now, 0)[2] is None
        c("DEL", key + "3")
    full(c)
    # It takes memory: kept for so many filters.
    c("FLUSHALL")
    c("CONFIG", "SET", "bf.bf-changes-length", "1")
    for i in range(1024):
        c("BF.RESERVE", f"many{i}", "0.01", "10")
        c("BF.CHANGES", f"many{i}")
    c("BF.RESERVE", "more", "0.01", "10")
    assert "1024 filters" in refused(c, "BF.CHANGES", "more")
    assert c("BF.CHANGES", "many0")[1] == 0
    c("DEL", "many1")
    assert c("BF.CHANGES", "more")[1] == 0
    c("CONFIG", "SET", "bf.bf-changes-length", "65536")
    c("FLUSHALL")


class Delays:
    """Between client and server: passes bytes on after a while, and cuts connections now and then."""

    def __init__(self, port, seed):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.random = self.listener.getsockname()[1], port, random.Random(seed)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            a, _ = self.listener.accept()
            try:
                b = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                a.close()
                continue
            for x, y in ((a, b), (b, a)):
                threading.Thread(target=self.pump, args=(x, y), daemon=True).start()

    def pump(self, a, b):
        try:
            while data := a.recv(65536):
                chance = self.random.random()
                time.sleep(0.4 if chance < 0.005 else self.random.random() * 0.02 if chance < 0.3 else 0)
                if chance > 0.998:
                    break
                b.sendall(data)
        except OSError:
            pass
        for x in (a, b):
            try:
                x.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def model(writers, copies, wait, meanwhile, seconds=SECONDS):
    run = server.spawn([str(MODEL), writers, copies, str(seconds), str(wait), str(random.randrange(10**6))],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    meanwhile(run, time.monotonic() + seconds * 0.8)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, (out, err.decode()[-2000:])
    print("    " + out.decode().strip())
    return out


def one_server(s):
    """Delays and cuts; adds in every kind; the filter is loaded from disk, merged, and deleted and made."""
    for kind in ("blocked", "scalable", "chain"):
        c = s.client()
        options = () if kind == "chain" else ("KIND", kind)
        c("BF.RESERVE", kind, "0.001", "20000", *options)
        c("BF.RESERVE", "other", "0.001", "20000", *options)
        if kind == "blocked":  # with one seed the two can be merged
            c("DEL", "other", kind)
            for key in ("other", kind):
                c("BF.RESERVE", key, "0.001", "700000", *options, "SEED", "7", "SATURATE")
        c("BF.MADD", "other", *[f"merged{i}" for i in range(100)])
        proxy = Delays(s.port, 1)

        def meanwhile(run, end):
            while time.monotonic() < end and run.poll() is None:
                time.sleep(0.4)
                c("DEBUG", "RELOAD")
                time.sleep(0.4)
                if kind == "blocked":
                    c("BF.MERGE", kind, "other")

        model(f"redis://127.0.0.1:{s.port}/{kind}?timeout=5", f"redis://127.0.0.1:{proxy.port}/{kind}?timeout=1", 0,
              meanwhile)
        c("FLUSHALL")


def failover(k):
    """Over a cluster, with a master killed and its replica promoted."""
    ref = f"redis+cluster://127.0.0.1:{k.nodes[1].port},127.0.0.1:{k.nodes[2].port}/near"
    bloomery("create", ref + "?shards=6", "-n", "700000", "-p", "0.001")

    def meanwhile(run, end):
        time.sleep(1.5)
        k.nodes[0].kill(signal.SIGKILL)
        server.until("the promotion", lambda: server.info(k.nodes[3].client(), "replication")["role"] == "master")
        k.nodes[0].start()  # as a replica, for WAIT
        time.sleep(SECONDS)
        assert run.poll() is None
        run.terminate()

    model(ref, ref, 1, meanwhile, 600)


class Follower:
    """`follow`, until the block ends. `said` is what it said."""

    def __init__(self, ref, file):
        self.process = server.spawn([BLOOMERY, "follow", ref, file, "--every", "20ms"], stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, what, *_):
        self.process.send_signal(signal.SIGKILL if what else signal.SIGTERM)
        self.said = self.process.communicate(timeout=30)[1]
        assert what or self.process.returncode == 0, self.said


def commands(s):
    """The command line: a copy that is asked, and one in a file that others read."""
    c = s.client()
    ref = f"redis://127.0.0.1:{s.port}/seen"
    lines = b"".join(b"key%d\n" % i for i in range(5000))
    bloomery("create", ref, "-n", "20000", "-p", "0.001")
    bloomery("add", ref, stdin=lines)
    assert bloomery("check", "near+" + ref, stdin=lines)[0] == lines
    bloomery("check", "-q", "near+" + ref, stdin=b"no such key\n", code=1)
    _, err = bloomery("add", "near+" + ref, stdin=b"x\n", code=2)
    assert "redis://" in err, err
    with tempfile.TemporaryDirectory() as directory:
        file = f"{directory}/copy.blm"
        run = server.spawn([BLOOMERY, "follow", ref, file, "--every", "20ms"], stderr=subprocess.PIPE)
        server.until("the file", lambda: os.path.exists(file))
        server.until("the keys", lambda: bloomery("check", "-c", file, stdin=lines, code=None)[0] == b"5000\n")
        reader = server.spawn([BLOOMERY, "check", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        c("BF.ADD", "seen", "later")
        server.until("the new key", lambda: bloomery("check", "-c", file, stdin=b"later\n", code=None)[0] == b"1\n")
        reader.stdin.write(b"later\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == b"later\n"  # in the file that was open
        inode = os.stat(file).st_ino
        c("DEBUG", "RELOAD")
        c("BF.ADD", "seen", "after")
        server.until("the key after a load", lambda: bloomery("check", "-c", file, stdin=b"after\n", code=None)[0] == b"1\n")
        assert os.stat(file).st_ino == inode  # loaded into the same file
        reader.stdin.write(b"after\n")
        reader.stdin.close()
        assert reader.stdout.read() == b"after\n" and reader.wait() == 0
        run.send_signal(signal.SIGTERM)
        err = run.communicate(timeout=30)[1]
        assert run.returncode == 0 and b"a copy of" in err, (run.returncode, err)
        assert bloomery("verify", file)[0]
        # Its modification time is how current it is.
        assert os.stat(file).st_mtime <= time.time()


def has(file, *keys):
    return bloomery("check", "-c", file, stdin="".join(k + "\n" for k in keys).encode(), code=None)[0] == b"%d\n" % len(keys)


def again(s):
    """A second run finds the first one's file: of filters that grow, too."""
    c = s.client()
    for key, options in (("native", ("KIND", "blocked")), ("grows", ("KIND", "scalable")), ("chain", ()),
                         ("fixed", ("NONSCALING",))):
        with tempfile.TemporaryDirectory() as directory:
            file = f"{directory}/copy.blm"
            c("BF.RESERVE", key, "0.001", "100", *options)
            for n in range(3):
                c("BF.ADD", key, f"key{n}")
                bloomery("follow", "--once", f"redis://127.0.0.1:{s.port}/{key}", file)
                assert has(file, *[f"key{i}" for i in range(n + 1)]), (key, n)
                assert not json.loads(bloomery("info", "--json", file)[0])["unclosed"], key # nobody added meanwhile
            c("BF.RESERVE", "other", "0.5", "9", "KIND", "counting")
            _, err = bloomery("follow", "--once", f"redis://127.0.0.1:{s.port}/other", file, code=2)
            assert "--force" in err and has(file, "key0", "key1", "key2"), err
            c("DEL", "other")
    c("FLUSHALL")


def said(s):
    """A file that another follower keeps is refused as that; and a key that is gone is not called a server that is."""
    c = s.client()
    with tempfile.TemporaryDirectory() as directory:
        file = f"{directory}/copy.blm"
        for key in ("k", "other"):
            c("BF.RESERVE", key, "0.001", "100", "KIND", "blocked")
        ref = f"redis://127.0.0.1:{s.port}/"
        with Follower(ref + "k", file) as run:
            server.until("the file", lambda: os.path.exists(file))
            server.until("its writer", lambda: json.loads(bloomery("info", "--json", file)[0])["writer"] == "live")
            for more in ([], ["--force"]):
                _, err = bloomery("follow", "--once", *more, ref + "other", file, code=2)
                assert "writer" in err and "has the file open" in err, err
            c("DEL", "k")
            time.sleep(1.5)
            c("BF.RESERVE", "k", "0.001", "100", "KIND", "blocked")
            c("BF.ADD", "k", "again")
            server.until("the key", lambda: has(file, "again"))
            time.sleep(0.5)
        assert b"out of date" in run.said and b"no such key" in run.said and b"up to date" in run.said, run.said
    c("FLUSHALL")


def replaced(s):
    """A filter that is replaced by one of another type is loaded anew, back and forth, and so is one that was
    gone, or a window, meanwhile."""
    c = s.client()
    with tempfile.TemporaryDirectory() as directory:
        file = f"{directory}/copy.blm"
        c("BF.RESERVE", "k", "0.001", "100", "KIND", "blocked")
        c("BF.ADD", "k", "first")
        with Follower(f"redis://127.0.0.1:{s.port}/k", file):
            server.until("the file", lambda: os.path.exists(file) and has(file, "first"))
            for n, options in enumerate(((), ("KIND", "scalable"), ("NONSCALING",), ("KIND", "counting"), (),
                                         ("WINDOW", "60"), ("KIND", "blocked"))):
                c("DEL", "k")
                c("BF.RESERVE", "k", "0.001", "1000", *options)
                c("BF.ADD", "k", f"loaded{n}")
                if "WINDOW" in options:
                    continue
                server.until("the new filter", lambda: has(file, f"loaded{n}"))
                c("BF.ADD", "k", f"told{n}")
                server.until("its changes", lambda: has(file, f"told{n}"))
                assert not has(file, "first"), options
    c("FLUSHALL")


def reading(copy):
    """A process that has the copy open, and a function that asks it for a line."""
    reader = server.spawn([BLOOMERY, "check", "-v", copy], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(line):
        """-v prints what is not there. A key that is there follows, so that there is an answer."""
        reader.stdin.write(line + b"\n" + b"no such key\n")
        reader.stdin.flush()
        out = reader.stdout.readline()
        if out == line + b"\n":
            assert reader.stdout.readline() == b"no such key\n"
            return False
        return True

    return reader, ask


def inodes(k):
    """A file system gives a number that became free to the next file: the second `shards` after the one that a
    reader knows would have that one's. As long as it is known, it must not be free."""
    ref = f"redis+cluster://127.0.0.1:{k.nodes[1].port},127.0.0.1:{k.nodes[2].port}/inodes"
    bloomery("create", ref + "?shards=2", "-n", "1000", "-p", "0.0001", "--kind", "scalable")
    with tempfile.TemporaryDirectory() as directory:
        copy = f"{directory}/copy"
        bloomery("follow", "--once", ref, copy)
        reader, ask = reading(copy)
        assert not ask(b"early")
        known = os.stat(copy + "/shards").st_ino
        late = b"".join(b"late%d\n" % i for i in range(100))
        bloomery("add", ref, stdin=late)
        bloomery("follow", "--once", ref, copy)
        for _ in range(200):  # and so again and again, as its keeper would
            if os.stat(copy + "/shards").st_ino == known:
                break
            shutil.copy2(copy + "/shards", copy + "/.shards")
            os.rename(copy + "/.shards", copy + "/shards")
        time.sleep(0.2)  # how often it looks
        absent = [line for line in late.split() if not ask(line)]
        assert not absent, len(absent)
        reader.stdin.close()
        reader.wait()


def spread(k):
    """Shards in a directory: followed, read by others, found again by the next run, sharded anew."""
    ref = f"redis+cluster://127.0.0.1:{k.nodes[1].port},127.0.0.1:{k.nodes[2].port}/spread"
    some = b"".join(b"key%d\n" % i for i in range(3000))
    bloomery("create", ref + "?shards=6", "-n", "20000", "-p", "0.001")
    bloomery("add", ref, stdin=some)
    with tempfile.TemporaryDirectory() as directory:
        copy = f"{directory}/copy"

        def files():
            return sorted(x for x in os.listdir(copy) if not x.startswith("."))

        with Follower(ref, copy):
            server.until("the directory", lambda: os.path.exists(copy + "/shards"))
            assert bloomery("check", "-c", copy, stdin=some)[0] == b"3000\n"
            assert int(bloomery("check", "-c", copy, stdin=some.replace(b"key", b"no"), code=None)[0]) < 20
            assert len(files()) == 7, files()
            bloomery("add", ref, stdin=b"later\n")
            server.until("the new key", lambda: has(copy, "later"))
            reader, ask = reading(copy)
            assert ask(b"later") and not ask(b"after")
            bloomery("create", "--force", ref + "?shards=9", "-n", "20000", "-p", "0.001", "--scheme", "redisbloom")
            bloomery("add", ref, stdin=b"after\n")
            server.until("the new shards", lambda: has(copy, "after"))
            server.until("the old files go", lambda: len(files()) == 10)
            assert not has(copy, "later"), files()
            server.until("the reader has them too", lambda: ask(b"after"))
            bloomery("add", ref, stdin=b"told\n")
            server.until("their changes", lambda: has(copy, "told"))
            server.until("the reader has those too", lambda: ask(b"told"))
            for node in k.nodes:  # all files are loaded anew, and take the place of those that are read
                node.client()("DEBUG", "RELOAD")
            bloomery("add", ref, stdin=b"reloaded\n")
            server.until("after the reload", lambda: has(copy, "reloaded"))
            server.until("the reader opens them again", lambda: ask(b"reloaded"))
            reader.stdin.close()
            reader.wait()
        bloomery("add", ref, stdin=b"again\n")
        before = os.stat(copy + "/shards").st_mtime_ns
        bloomery("follow", "--once", ref, copy)
        assert has(copy, "after", "told", "again") and len(files()) == 10
        assert before < os.stat(copy + "/shards").st_mtime_ns <= time.time_ns()
        # What is not a copy of it stays, unless it may be replaced.
        for what in (("create", "--force", ref, "-n", "20000"), ()):
            if what:
                bloomery(*what)
            else:
                os.unlink(copy + "/shards")
                pathlib.Path(copy, "mine").write_bytes(b"x")
            _, err = bloomery("follow", "--once", ref, copy, code=2)
            assert "--force" in err, err
            bloomery("follow", "--once", "--force", ref, copy)
            assert not has(copy, "after")
        assert len(files()) == 18 and "mine" in files(), files()
        for command in ("info", "verify"):
            _, err = bloomery(command, copy, code=2)
            assert "redis+cluster://host/KEY" in err, err
        bloomery("create", ref + "-cuckoo", "-n", "1000", "--kind", "cuckoo")
        _, err = bloomery("follow", "--once", ref + "-cuckoo", copy + "2", code=2)
        assert "cuckoo" in err and not os.path.exists(copy + "2"), err
        _, err = bloomery("add", copy, stdin=b"x\n", code=2)
        assert "redis+cluster://host/KEY" in err, err


def anew(k):
    """The same in C, with threads that ask and add meanwhile, and a reader that must know how old it is."""
    ref = f"redis+cluster://127.0.0.1:{k.nodes[1].port},127.0.0.1:{k.nodes[2].port}/anew"
    bloomery("create", ref + "?shards=5", "-n", "5000")
    with tempfile.TemporaryDirectory() as directory:
        run = server.spawn([str(MODEL.with_name("redis.near_anew")), ref, f"{directory}/copy", BLOOMERY],
                           stderr=subprocess.PIPE)
        err = run.communicate(timeout=300)[1]
        assert run.returncode == 0, (run.returncode, err)


def fixed(s):
    """A chain that may not grow is loaded again, and then takes what it has room for."""
    c = s.client()
    c("BF.RESERVE", "fixed", "0.001", "100", "NONSCALING")
    keys = [f"key{i}" for i in range(90)]
    with tempfile.TemporaryDirectory() as directory:
        file = f"{directory}/copy.blm"
        c("BF.MADD", "fixed", *keys[:60])
        run = server.spawn([BLOOMERY, "follow", f"redis://127.0.0.1:{s.port}/fixed", file, "--every", "20ms"],
                           stderr=subprocess.PIPE)
        server.until("the file", lambda: os.path.exists(file) and has(file, *keys[:60]))
        c("DEBUG", "RELOAD")
        time.sleep(0.5)
        c("BF.MADD", "fixed", *keys[60:])
        server.until("the keys after a load", lambda: has(file, *keys))
        run.send_signal(signal.SIGTERM)
        err = run.communicate(timeout=30)[1]
        assert run.returncode == 0, err
        assert len(json.loads(bloomery("info", "--json", file)[0])["layers"]) == 1
    c("FLUSHALL")


def unsaved(s):
    """A file that cannot be replaced for a while."""
    c = s.client()
    c("BF.RESERVE", "chain", "0.001", "100")
    c("BF.ADD", "chain", "key")
    with tempfile.TemporaryDirectory() as directory:
        here, away = f"{directory}/here", f"{directory}/away"
        os.mkdir(here)
        file = f"{here}/copy.blm"
        run = server.spawn([BLOOMERY, "follow", f"redis://127.0.0.1:{s.port}/chain", file, "--every", "20ms"],
                           stderr=subprocess.PIPE)
        begun = run.stderr.readline()  # the file is there before its follower has opened it
        assert b"a copy of" in begun, begun
        os.rename(here, away)
        c("DEBUG", "RELOAD")
        time.sleep(0.5)
        os.rename(away, here)
        c("BF.ADD", "chain", "later")
        server.until("the file again", lambda: has(file, "key", "later"))
        run.send_signal(signal.SIGTERM)
        err = run.communicate(timeout=30)[1]
        assert run.returncode == 0, err
    c("FLUSHALL")


def date(_):
    """The file of a server that is gone does not become newer when its follower ends."""
    with Server(binary=server.REDIS) as s, tempfile.TemporaryDirectory() as directory:
        file = f"{directory}/copy.blm"
        s.client()("BF.RESERVE", "seen", "0.001", "100", "KIND", "blocked")
        s.client()("BF.ADD", "seen", "key")
        run = server.spawn([BLOOMERY, "follow", f"redis://127.0.0.1:{s.port}/seen", file, "--every", "20ms"],
                           stderr=subprocess.PIPE)
        server.until("the file", lambda: os.path.exists(file) and has(file, "key"))
        s.kill()
        gone = time.time()
        time.sleep(1.2)
        run.send_signal(signal.SIGTERM)
        err = run.communicate(timeout=30)[1]
        assert run.returncode == 0, err
        assert os.stat(file).st_mtime <= gone, os.stat(file).st_mtime - gone


def own(s):
    """A key that the keeper of a file adds does not make the file look newer than it is."""
    s.client()("BF.RESERVE", "own", "0.001", "100", "KIND", "blocked")
    with tempfile.TemporaryDirectory() as directory:
        run = server.spawn([str(MODEL.with_name("redis.near_own")), f"redis://127.0.0.1:{s.port}/own",
                            f"{directory}/copy.blm"], stderr=subprocess.PIPE)
        err = run.communicate(timeout=60)[1]
        assert run.returncode == 0, (run.returncode, err)


def gone(_):
    """A check whose server is gone says so once; then every key may be in the filter."""
    with Server(binary=server.REDIS) as s:
        ref = f"near+redis://127.0.0.1:{s.port}/seen?timeout=1"
        s.client()("BF.RESERVE", "seen", "0.001", "100", "KIND", "blocked")
        s.client()("BF.ADD", "seen", "key")
        run = server.spawn([BLOOMERY, "check", ref], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        run.stdin.write(b"absent\nkey\n")
        run.stdin.flush()
        assert run.stdout.readline() == b"key\n"
        s.kill()
        time.sleep(1.2)
        for line in (b"one\n", b"two\n"):
            run.stdin.write(line)
            run.stdin.flush()
            assert run.stdout.readline() == line
        err = run.communicate(timeout=30)[1]
        assert run.returncode == 0 and err.count(b"out of date") == 1, (run.returncode, err)


def main():
    with Server(binary=server.REDIS) as s:
        for test in (command, commands, again, said, replaced, fixed, unsaved, date, own, gone, one_server):
            begin = time.monotonic()
            test(s)
            print(f"  {test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    with Cluster(server.REDIS) as k:
        for test in (spread, inodes, anew, failover):
            begin = time.monotonic()
            test(k)
            print(f"  {test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    server.run([main])
