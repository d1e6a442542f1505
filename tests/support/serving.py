# SPDX-License-Identifier: Apache-2.0
"""Programs and servers of a test: starts them, waits for them, and asks them.

What is started here ends with the test. `later` says how: a test's addCleanup, or the callback of an ExitStack.
"""

import http.client
import http.server
import pathlib
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

SECONDS = 90


def folder(later):
    """The path of a new folder."""
    held = tempfile.TemporaryDirectory()
    later(held.cleanup)
    return pathlib.Path(held.name)


def start(later, *command, log=subprocess.DEVNULL, **more):
    """The process of a program; `log` gets what it says."""
    process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **more)

    def end():
        process.kill()
        process.wait()

    later(end)
    return process


def key_pair(place):
    """The paths of a self-signed certificate for localhost and of its key, made in the folder `place`."""
    pair = place / "tls.crt", place / "tls.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-out", pair[0], "-keyout", pair[1]], check=True, capture_output=True)
    return pair


class Quiet(http.server.BaseHTTPRequestHandler):
    """Answers requests, and logs none."""

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status, body, kind="application/json", more=()):
        self.send_response(status)
        for name, value in [("Content-Type", kind), ("Content-Length", str(len(body))), *more]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def serve(later, handler, pair=None):
    """A server on a port of its own, with TLS if it has a pair of certificate and key."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if pair:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    later(server.server_close)
    later(server.shutdown)
    return server


def open_url(request, seconds=SECONDS):
    """The answer to a request, or to a GET of a URL. Certificates are not checked: programs make new ones."""
    url = request if isinstance(request, str) else request.full_url
    return urllib.request.urlopen(request, timeout=seconds,
                                  context=ssl._create_unverified_context() if url.startswith("https") else None)


def fetch(url, method="GET", body=None, token=None, content_type="application/json", headers=None):
    """(status, text)"""
    sent = {"Content-Type": content_type, **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    request = urllib.request.Request(url, method=method, headers=sent, data=body.encode() if body else None)
    try:
        with open_url(request, 30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def eventually(ask, what, ignore=(OSError, http.client.HTTPException)):
    """The first true answer of `ask`. `what` is a text, or makes one."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if answer := ask():
                return answer
        except ignore:
            pass
        time.sleep(0.05)
    raise AssertionError(f"not within {SECONDS} s: {what() if callable(what) else what}")
