#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The console's files and the endpoints of tutti.v1 over a made-up cluster, for tests and for work on the console.

  mock.py [--port N] [--nodes N] [--gangs N]
"""

import argparse
import http.server
import json
import pathlib
import queue
import random
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster, key, name_of
from serving import Quiet

UI = pathlib.Path(__file__).resolve().parents[2] / "ui"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
HEARTBEAT_SECONDS = 5


def headers():
    return [("X-Content-Type-Options", "nosniff"), *(line.split(": ", 1) for line in (UI / "headers").read_text().splitlines())]


class Mock:
    """Serves a Cluster. set() and remove() change a gang and tell the watches."""

    def __init__(self, cluster, port=0, token=None):
        self.cluster, self.token, self.sequence, self.started = cluster, token, 100, "2026-01-01T00:00:00Z"
        self.leading, self.refused, self.watches, self.lock, self.server = True, {}, [], threading.Lock(), None
        self.lists, self.streams, self.kept, self.cache = 0, 0, [], {}
        self.questions, self.outlook = [], lambda question: (200, {})
        self.port = port
        self.start()

    def start(self):
        handler = type("Handler", (Handler,), {"mock": self, "away": False})
        self.handler = handler
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        """Goes away, with all connections."""
        self.handler.away = True
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            for watch in self.watches:
                watch.put(None)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/ui/"

    def set(self, *gangs):
        self.tell([{"gang": gang} for gang in gangs], lambda: self.cluster.gangs.update({key(gang): gang for gang in gangs}))

    def remove(self, gang):
        self.tell([{"gone": name_of(gang)}], lambda: self.cluster.gangs.pop(key(gang)))

    def tell(self, changes, change=lambda: None):
        if not changes:
            return
        with self.lock:
            change()
            self.cache.clear()
            self.sequence += 1
            changes[-1]["sequence"] = str(self.sequence)
            self.kept.append((self.sequence, changes))
            for watch in self.watches:
                for one in changes:
                    watch.put(one)

    def relist(self):
        """Says to all watches that changes are missing."""
        with self.lock:
            self.kept.clear()
            for watch in self.watches:
                watch.put({"relist": "changes are not kept"})
                watch.put(None)

    def list(self):
        with self.lock:
            if "list" not in self.cache:
                self.cache["list"] = json.dumps({"sequence": str(self.sequence), "gangs": list(self.cluster.gangs.values())}).encode()
            return self.cache["list"]


class Handler(Quiet):
    mock, away = None, False
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.away:
            self.close_connection = True
            return
        path, _, query = self.path.partition("?")
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        try:
            if parts[0] == "ui":
                self.file(path)
            elif parts[:3] == ["apis", "tutti", "v1"]:
                self.api(parts[3:], dict(urllib.parse.parse_qsl(query)))
            else:
                self.send(404, b"404 page not found\n", "text/plain")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.mock.token and self.headers.get("Authorization") != f"Bearer {self.mock.token}":
            return self.send(401, b"Unauthorized\n", "text/plain")
        if self.path != "/apis/tutti/v1/whatif" or self.headers["Content-Type"] != "application/json":
            return self.send(404, b"404 page not found\n", "text/plain")
        self.mock.questions.append(question)
        status, answer = self.mock.outlook(question)
        self.send(status, answer.encode() if isinstance(answer, str) else json.dumps(answer).encode(), "text/plain" if status != 200 else "application/json")

    def file(self, path):
        if path == "/ui":
            return self.send(308, b"", "text/plain", [("Location", "ui/")])
        file = UI / (path[len("/ui/"):] or "index.html")
        if ".." in path or not file.is_file() or file.suffix not in TYPES:
            return self.send(404, b"404 page not found\n", "text/plain")
        self.send(200, file.read_bytes(), TYPES[file.suffix], headers())

    def api(self, parts, query):
        mock, cluster = self.mock, self.mock.cluster
        if mock.token and self.headers.get("Authorization") != f"Bearer {mock.token}":
            return self.send(401, b"Unauthorized\n", "text/plain")
        if parts[0] in mock.refused:
            return self.send(403, mock.refused[parts[0]].encode(), "text/plain")
        answer = None
        if parts == ["version"]:
            answer = {"version": "0.2.0", "started": mock.started, "leading": mock.leading, "sequence": str(mock.sequence)}
            if not mock.leading:
                answer["notLeading"] = "not the leader; ask tutti-1, which holds the Lease tutti-system/tutti"
        elif parts == ["gangs"]:
            mock.lists += 1
            return self.send(200, mock.list())
        elif parts == ["queues"]:
            answer = cluster.queues()
        elif parts == ["nodes"]:
            answer = cluster.list_nodes()
        elif parts == ["watch"]:
            return self.watch(int(query.get("since", 0)))
        elif parts[0] == "gangs" and len(parts) in (3, 4):
            name = next((one for one in cluster.gangs if one[1:] == (parts[1], parts[2])), None)
            if name:
                answer = cluster.whole(name) if len(parts) == 3 else cluster.history(name)
        if answer is None:
            return self.send(404, f"there is no gang {'/'.join(parts[1:3])}\n".encode(), "text/plain")
        self.send(200, json.dumps(answer).encode())

    def watch(self, since):
        mock, mine = self.mock, queue.Queue()
        with mock.lock:
            if since < mock.sequence and (not mock.kept or mock.kept[0][0] > since + 1):
                mine.put({"relist": f"changes after {since} are not kept"})
                mine.put(None)
            for sequence, changes in mock.kept:
                for one in changes if sequence > since else ():
                    mine.put(one)
            mock.watches.append(mine)
            mock.streams += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                try:
                    one = mine.get(timeout=HEARTBEAT_SECONDS)
                except queue.Empty:
                    self.wfile.write(b": alive\n\n")
                    continue
                if one is None:
                    return
                self.wfile.write(b"data: " + json.dumps(one).encode() + b"\n\n")
        finally:
            with mock.lock:
                mock.watches.remove(mine)


def live(mock):
    """Lets gangs end, and others start in their place or begin to wait, without end."""
    pick = random.Random(7)
    number = 1000
    while True:
        time.sleep(0.7)
        number += 1
        with mock.lock:
            changed, gone = mock.cluster.turn(pick, number)
        mock.set(*changed)
        for gang in gone:
            mock.tell([{"gone": name_of(gang)}])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8088)
    parser.add_argument("--nodes", type=int, default=96)
    parser.add_argument("--gangs", type=int, default=120)
    arguments = parser.parse_args()
    served = Mock(Cluster(arguments.nodes, arguments.gangs), arguments.port)
    print(served.url, flush=True)
    live(served)
