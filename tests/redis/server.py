# SPDX-License-Identifier: MIT
"""Real servers for the tests: started on free ports of 127.0.0.1 in a directory of their own, with the
module of the build under test, and stopped by their process numbers. A server that cannot start
fails the test; its log is shown whenever a test fails.

    BLM_BUILD       the build tree; BLM_BUILD/redis/bloomery.so is loaded, or what BLM_MODULE names
    VALKEY_SERVER   a valkey-server: tests that `each_server` runs go through it as well
"""
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("BLM_BUILD", pathlib.Path(__file__).parents[2] / "build")).resolve()
MODULE = os.environ.get("BLM_MODULE", str(BUILD / "redis" / "bloomery.so"))
SOURCE = pathlib.Path(__file__).parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "redisbloom"
BLOOMERY = str(BUILD / "bloomery")
SLOW = bool(os.environ.get("BLM_SLOW"))
REDIS = shutil.which("redis-server") or "redis-server"
WAIT = 60.0  # seconds for anything that will happen


class Error(Exception):
    """An error reply, without its dash."""


class Client:
    """RESP2 or RESP3 over a socket, with nothing in between: what a test sees is what was sent."""

    def __init__(self, port=None, path=None, protocol=2, timeout=60):
        if path:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(timeout)
            self.sock.connect(path)
        else:
            self.sock = socket.create_connection(("127.0.0.1", port), timeout)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.sock.makefile("rb")
        if protocol == 3:
            self("HELLO", "3")

    def close(self):
        self.file.close()
        self.sock.close()

    @staticmethod
    def pack(*words):
        out = [b"*%d\r\n" % len(words)]
        for w in words:
            w = w if isinstance(w, bytes) else str(w).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(w), w))
        return b"".join(out)

    def read(self):
        """One reply. Error replies inside arrays are Error values, not raised."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind in b"$=":
            if rest == b"-1":
                return None
            data = self.file.read(int(rest) + 2)
            return data[:-2] if kind == b"$" else data[4:-2]
        if kind in b"*~>":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return {self._hashable(self.read()): self.read() for _ in range(int(rest))}
        raise ValueError(f"unknown reply {line!r}")

    @staticmethod
    def _hashable(v):
        return tuple(v) if isinstance(v, list) else v

    def __call__(self, *words):
        self.sock.sendall(self.pack(*words))
        reply = self.read()
        if isinstance(reply, Error):
            raise reply
        return reply

    def error(self, *words):
        """The text of the error that the command must be answered with."""
        try:
            reply = self(*words)
        except Error as e:
            return str(e)
        raise AssertionError(f"{words!r}: no error but {reply!r}")

    def many(self, commands):
        """All at once; errors are values."""
        self.sock.sendall(b"".join(self.pack(*c) for c in commands))
        return [self.read() for _ in commands]


CLAIMS = []  # open until this process ends


def free_port():
    """A port of our own until this process ends. It is below those that the system gives to whoever
    connects, free, and claimed by an abstract socket of its name, which the other tests and jobs
    respect (examples/common/redis_server.h): nobody gets it before the server does, nor while one is
    restarted. 10 000 above, where a cluster's nodes talk, it is the same."""
    for port in random.SystemRandom().sample(range(12000, 22000), 10000):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0bloomery-port-{port}")
            for used in (port, port + 10000):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", used))
        except OSError:
            claim.close()
            continue
        CLAIMS.append(claim)
        return port
    raise AssertionError("no port is free from 12000 to 21999")


def until(what, test, seconds=WAIT):
    """Waits until test() is true."""
    end = time.monotonic() + seconds
    while True:
        try:
            if test():
                return
        except (ConnectionError, Error, OSError):
            pass
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.02)


class Server:
    """A running server. `directory` outlives a restart; `options` as in redis.conf."""

    def __init__(self, *options, directory=None, port=None, binary=None, module=True, arguments=()):
        self.binary = binary or REDIS
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="bloomery-redis-"))
        self.owns = directory is None
        self.options = list(options)
        self.module = module
        self.arguments = list(arguments)
        self.port = port or free_port()
        self.process = None
        try:
            self.start()
        except AssertionError:  # the log is in its words
            if self.owns:
                shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def start(self):
        if self.module and not os.path.exists(MODULE):
            raise SystemExit(f"{MODULE} is missing: build it first")
        for _ in range(3):  # a program that knows nothing of claims may have taken the port
            command = [self.binary, "--port", str(self.port), "--bind", "127.0.0.1", "--dir",
                       str(self.directory), "--logfile", "server.log", "--daemonize", "no",
                       "--unixsocket", str(self.directory / "socket"), "--save", "",
                       "--enable-debug-command", "yes", "--enable-module-command", "yes"]
            for o in self.options:
                command += ["--" + o[0], *map(str, o[1:])]
            if self.module:
                command += ["--loadmodule", MODULE, *self.arguments]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
            if self.answers():
                return
            if "Address already in use" not in self.log():
                break
            self.port = free_port()
        self.kill()
        raise AssertionError(f"the server did not start:\n{self.log()}")

    def answers(self):
        """By its own socket, which it opens after the port: another server there is not taken for it."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end and self.process.poll() is None:
            try:
                c = Client(path=str(self.directory / "socket"), timeout=WAIT)
                good = c.many([["PING"]])[0]
                c.close()
                if good == "PONG" or "NOAUTH" in str(good):
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def client(self, protocol=2):
        return Client(self.port, protocol=protocol)

    def log(self):
        try:
            return (self.directory / "server.log").read_text(errors="replace")
        except OSError:
            return "(no log)"

    def kill(self, how=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
        if self.process:
            self.process.wait(WAIT)

    def stop(self):
        self.kill(signal.SIGTERM)

    def restart(self, how=signal.SIGTERM):
        self.kill(how)
        self.start()
        return self.client()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        died = self.process.poll() if self.process else None
        if kind or died not in (None, 0, -signal.SIGKILL, -signal.SIGTERM):
            sys.stderr.write(f"--- log of the server on port {self.port} (ended: {died}) ---\n"
                             f"{self.log()[-6000:]}\n---\n")
        self.kill()
        if self.owns:
            shutil.rmtree(self.directory, ignore_errors=True)
        if not kind and died not in (None, 0, -signal.SIGKILL, -signal.SIGTERM):
            raise AssertionError(f"the server died: {died}")


def dump(c, key):
    """The chunks of BF.SCANDUMP: [(iterator, bytes)…] as BF.LOADCHUNK takes them."""
    chunks, at = [], 0
    while True:
        at, data = c("BF.SCANDUMP", key, at)
        if at == 0:
            assert data == b"", data
            return chunks
        chunks.append((at, data))


def load(c, key, chunks):
    for at, data in chunks:
        assert c("BF.LOADCHUNK", key, at, data) == "OK"


def digest(c, *keys):
    return c("DEBUG", "DIGEST-VALUE", *keys)


def info(c, section):
    text = c("INFO", section).decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def each_server(test):
    """Runs test(binary) on Redis, and on Valkey where VALKEY_SERVER names one."""
    test(REDIS)
    valkey = os.environ.get("VALKEY_SERVER")
    if valkey:
        test(valkey)
    else:
        print(f"skipped: {test.__name__} on Valkey, VALKEY_SERVER does not name one")


SPAWNED = []


def spawn(*words, **how):
    """subprocess.Popen of what must not outlive the test, not even one that fails."""
    SPAWNED.append(subprocess.Popen(*words, **how))
    return SPAWNED[-1]


def run(tests):
    """Runs the functions of a test file, all or those named on the command line; says each."""
    wanted = sys.argv[1:]
    try:
        for t in tests:
            if wanted and t.__name__ not in wanted:
                continue
            begin = time.monotonic()
            t()
            print(f"{t.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)
    finally:
        for p in SPAWNED:
            if p.poll() is None:
                p.kill()


def bloomery(*arguments, stdin=b"", code=0, env=None):
    """Runs the command line; its (stdout, stderr). code None: any."""
    r = subprocess.run([BLOOMERY, *map(str, arguments)], input=stdin, capture_output=True,
                       timeout=300, env={**os.environ, **(env or {})}, check=False)
    assert code is None or r.returncode == code, (arguments, r.returncode, r.stdout[-500:], r.stderr.decode())
    return r.stdout, r.stderr.decode()


def _table():
    rows = []
    for i in range(256):
        v = i
        for _ in range(8):
            v = v >> 1 ^ (0x95ac9329ac4bc9b5 if v & 1 else 0)
        rows.append(v)
    return rows


_CRC = _table()


def crc64(data):
    """Redis' checksum of RDB files and DUMP payloads."""
    v = 0
    for b in data:
        v = _CRC[(v ^ b) & 0xff] ^ v >> 8
    return v


def payload_of(body):
    """A DUMP payload with this body: RDB version 10 and the right checksum."""
    body = body + b"\x0a\x00"
    return body + crc64(body).to_bytes(8, "little")
