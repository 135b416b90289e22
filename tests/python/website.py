# SPDX-License-Identifier: MIT
"""A web site on 127.0.0.1 for spiders: pages that link to each other in cycles, under several spellings of
one address, and through redirects. A process of its own: prints its port, counts every request.

    python3 website.py PAGES
"""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def links(i, pages):
    yield f"/p/{(2 * i + 1) % pages}"
    yield f"/p/{(2 * i + 2) % pages}"
    yield f"/p/{i // 2}"                            # back: a cycle
    yield f"/p/{i}#top"                             # itself
    if i % 10 == 0:
        yield f"/p/{i}?b=2&a=1"                     # one address, two spellings of its query
        yield f"/p/{i}?a=1&b=2"
    if i % 10 == 5:
        yield f"/r/{(i * 31) % pages}"              # a redirect


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages = 0

    def do_GET(self):
        path = self.path.partition("?")[0]
        what, _, number = path.strip("/").partition("/")
        if what == "r" and number.isdigit():
            self.send_response(302)
            self.send_header("Location", f"/p/{number}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if what != "p" or not number.isdigit() or int(number) >= self.pages:
            self.send_error(404)
            return
        body = "".join(f'<a href="{a}">x</a>' for a in links(int(number), self.pages)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    Handler.pages = int(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
