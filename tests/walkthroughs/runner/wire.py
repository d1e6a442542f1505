# SPDX-License-Identifier: Apache-2.0
"""A slow wire between the scheduler and the API server.

Passes bytes on, so it needs to know neither TLS nor HTTP. What the scheduler sends goes through at a
limited rate, whatever the number of connections; what it receives is not held up. Binds that would all be
out within 50 ms thus take a second or two, and the scheduler can be killed, or a node deleted, in their
midst. `hold` lets nothing more through until `release`, so that what has to happen in that midst need not be
fast. `cut` drops what is on its way, as a machine that loses power would.
"""

import select
import socket
import threading
import time

CHUNK_SECONDS = 0.005


class SlowWire:
    """Listens on a free loopback port (`port`) until `close`. Methods may be called from any thread."""

    def __init__(self, target_port, bytes_per_second):
        self._target = ("127.0.0.1", target_port)
        self._chunk = max(1, int(bytes_per_second * CHUNK_SECONDS))
        self._lock = threading.Lock()
        self._due = time.monotonic()
        self._flows = threading.Event()
        self._flows.set()
        self._pairs = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self):
        self._flows.clear()

    def release(self):
        self._flows.set()

    def cut(self):
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for end in pair:
                _shut(end)
        self.release()

    def close(self):
        _shut(self._listener)
        self.cut()

    def _accept(self):
        while True:
            try:
                scheduler, _ = self._listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            for end in (scheduler, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (scheduler, server)
            with self._lock:
                self._pairs.add(pair)
            threading.Thread(target=self._pump, args=(pair, scheduler, server, self._chunk), daemon=True).start()
            threading.Thread(target=self._pump, args=(pair, server, scheduler, None), daemon=True).start()

    def _pump(self, pair, source, sink, chunk):
        try:
            while data := source.recv(chunk or 65536):
                if chunk:
                    self._flows.wait()
                sink.sendall(data)
                if chunk:
                    self._take(CHUNK_SECONDS * len(data) / chunk)
        except OSError:
            pass
        with self._lock:
            self._pairs.discard(pair)
        for end in pair:
            _shut(end)

    def _take(self, seconds):
        """Takes `seconds` of the wire, after what others took. Unused time is not saved up."""
        with self._lock:
            self._due = max(self._due, time.monotonic() - CHUNK_SECONDS) + seconds
            due = self._due
        select.select([], [], [], max(0.0, due - time.monotonic()))


def _shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
