# SPDX-License-Identifier: Apache-2.0
"""The way from one replica to the API server, which can be cut.

Passes bytes on, so it needs to know neither TLS nor HTTP. While it is cut nothing passes, and neither side is told: what is
sent is lost, an end is not seen, and new connections meet silence, as behind a switch that drops packets.
"""

import contextlib
import socket
import threading


class Wire:
    """Listens on a free loopback port (`port`). cut() and mend() are one thread's."""

    def __init__(self, target):
        self._target = target
        self._lock = threading.Lock()
        self._whole = threading.Event()
        self._whole.set()
        self._pairs = set()
        self.lost = 0  # bytes since the cut
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self.lost = 0
        self._whole.clear()

    def mend(self):
        """How many bytes were lost. Connections that may miss some of them end; new ones are let through."""
        with self._lock:  # no connection comes in between
            pairs, self._pairs = self._pairs, set()
            for pair in pairs:
                _end(pair)
            self._whole.set()
        return self.lost

    def _accept(self):
        while True:
            replica, _ = self._listener.accept()
            try:
                server = socket.create_connection(self._target)
            except OSError:
                replica.close()
                continue
            pair = (replica, server)
            for end in pair:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.add(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self._pump, args=(pair, source, sink), daemon=True).start()

    def _pump(self, pair, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self._whole.is_set():
                    sink.sendall(data)
                else:
                    with self._lock:
                        self.lost += len(data)
        self._whole.wait()
        with self._lock:
            self._pairs.discard(pair)
        _end(pair)


def _end(pair):
    for end in pair:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
