#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bloomery web: the files of one folder, to this machine, by GET and HEAD, and nothing else."""
import http.client
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = Path(os.environ["BLM_BUILD"]) / "bloomery"
PAGE = b"<!doctype html><title>x</title>" + b"\xe9" * 200000


class Server(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        root = Path(self.home.name)
        self.dir = root / "page"
        self.dir.mkdir()
        (self.dir / "index.html").write_bytes(PAGE)
        (self.dir / "a.js").write_text("1")
        (self.dir / ".hidden").write_text("no")
        (self.dir / "folder").mkdir()
        (root / "secret.txt").write_text("secret")
        (self.dir / "link.html").symlink_to(root / "secret.txt")
        self.run = subprocess.Popen([PROGRAM, "web", "--dir", self.dir, "--quiet"], stdout=subprocess.PIPE, text=True)
        self.url = self.run.stdout.readline().strip()
        self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", self.url).group(1))

    def tearDown(self):
        self.run.terminate()
        self.run.wait()
        self.run.stdout.close()
        self.home.cleanup()

    def ask(self, path, method="GET"):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.putrequest(method, path, skip_host=True)
        c.putheader("Host", "127.0.0.1")
        c.endheaders()
        answer = c.getresponse()
        body = answer.read()
        c.close()
        return answer, body

    def raw(self, text):
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as s:
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            got = b""
            while chunk := s.recv(65536):
                got += chunk
            return got

    def test_page(self):
        for path in ("/", "/index.html", "/?x=1", "/index.html#y"):
            answer, body = self.ask(path)
            self.assertEqual((answer.status, body), (200, PAGE))
            self.assertEqual(answer.getheader("Content-Type"), "text/html; charset=utf-8")
        self.assertEqual(self.ask("/a.js")[0].getheader("Content-Type"), "text/javascript; charset=utf-8")

    def test_head(self):
        answer, body = self.ask("/", "HEAD")
        self.assertEqual((answer.status, body, answer.getheader("Content-Length")), (200, b"", str(len(PAGE))))

    def test_nothing_else(self):
        for path in ("/secret.txt", "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "//etc/passwd", "/folder",
                     "/folder/", "/.hidden", "/link.html", "/a.js/", "/./a.js", "/no", "/" + "x" * 3000):
            answer, body = self.ask(path)
            self.assertEqual(answer.status, 404, path)
            self.assertNotIn(b"secret", body)

    def test_only_get_and_head(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "GETX"):
            answer, _ = self.ask("/", method)
            self.assertEqual((answer.status, answer.getheader("Allow")), (405, "GET, HEAD"))

    def test_nonsense(self):
        self.assertIn(b" 400 ", self.raw(b"GET index.html HTTP/1.1\r\n\r\n"))
        self.assertIn(b" 400 ", self.raw(b"GET /\r\n\r\n"))
        self.assertIn(b" 405 ", self.raw(b"\0\0\r\n\r\n"))
        self.assertIn(b" 431 ", self.raw(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 4000))
        self.assertEqual(self.raw(b"GET / HT"), b"")
        self.assertEqual(self.ask("/")[0].status, 200)

    def test_silent_connections_hold_nobody_up(self):
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(20)]
        self.assertEqual(self.ask("/")[0].status, 200)
        for s in silent:
            s.close()

    def test_more_connections_than_files(self):
        resource.prlimit(self.run.pid, resource.RLIMIT_NOFILE, (16, 16))
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(30)]
        time.sleep(0.3)
        self.assertIsNone(self.run.poll())
        for s in silent:
            s.close()
        self.assertEqual(self.ask("/")[0].status, 200)

    def test_no_file_left_for_the_page(self):
        most = 1 + max(int(fd) for fd in os.listdir(f"/proc/{self.run.pid}/fd"))
        resource.prlimit(self.run.pid, resource.RLIMIT_NOFILE, (most + 1, most + 1))  # the connection's own
        self.assertEqual(self.ask("/")[0].status, 503)
        self.assertEqual(self.ask("/.hidden")[0].status, 404)

    def test_ends_with_ctrl_c(self):
        self.run.send_signal(signal.SIGINT)
        self.assertIn(self.run.wait(60), (0, -signal.SIGINT, 130))

    def test_linked_page(self):
        linked = Path(self.home.name) / "linked"
        linked.mkdir()
        (linked / "index.html").symlink_to(self.dir / "index.html")
        run = subprocess.Popen([PROGRAM, "web", "--dir", linked, "--quiet"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.terminate)
        self.port = int(run.stdout.readline().strip().rstrip("/").rsplit(":", 1)[1])
        self.assertEqual(self.ask("/")[1], PAGE)
        self.assertEqual(self.ask("/a.js")[0].status, 200)

    def test_only_this_machine(self):
        listening = Path("/proc/net/tcp").read_text()
        self.assertIn(f"0100007F:{self.port:04X} 00000000:0000 0A", listening)

    def test_path_and_trouble(self):
        done = subprocess.run([PROGRAM, "web", "--path", "--dir", self.dir], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{self.dir.resolve()}/index.html\n")
        done = subprocess.run([PROGRAM, "web", "--dir", self.dir / "folder"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("make web", done.stderr)
        done = subprocess.run([PROGRAM, "web", "--dir", self.dir, "--port", str(self.port)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--port", done.stderr)


if __name__ == "__main__":
    unittest.main()
