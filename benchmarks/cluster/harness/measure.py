# SPDX-License-Identifier: Apache-2.0
"""What the API server shows of a run: the instant of each bind, and when every pod had its Event."""

import collections
import contextlib
import socket
import struct
import threading
import time

from .stage import Failure

ADDED = b"\n\x05ADDED"  # a WatchEvent's first field, in protobuf
EVENTS = "/apis/events.k8s.io/v1/events"
EVENT_POLL_SECONDS = 0.1
EVENT_STALL_SECONDS = 15
LEAD_SECONDS = 0.05


def _field(message, wanted):
    """The bytes of a length-delimited field of a protobuf message; the fields before it must be such too."""
    at = 0
    while at < len(message):
        key, at = message[at], at + 1
        length = shift = 0
        while True:
            byte, at = message[at], at + 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if key == wanted << 3 | 2:
            return message[at:at + length]
        at += length
    raise Failure(f"a watch event without field {wanted}")


def resource_version(frame):
    """WatchEvent.object.raw is "k8s\\0" and an Unknown, whose raw is the Pod: metadata is its field 1, the version field 6."""
    unknown = _field(_field(frame, 2), 1)[4:]
    return _field(_field(_field(unknown, 2), 1), 6).decode()


class BindWatch:
    """Notes when each bound pod appears in a watch of bound pods.

    The pods are not decoded, and come in the encoding that schedulers ask for and the API server therefore makes once for all
    watchers: what this costs the machine is small, and the same for every row.
    """

    def __init__(self, api, expected):
        self.instants = []
        self.reopened = 0
        self._api, self._expected = api, expected
        self._all, self._closing = threading.Event(), False
        self._error = self._last_frame = None
        self._from = api.page("/api/v1/pods", limit=1)["metadata"]["resourceVersion"]
        self._open()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _open(self):
        self._answer, self._connection = self._api.open(
            "/api/v1/pods", accept="application/vnd.kubernetes.protobuf;stream=watch", watch="true",
            fieldSelector="spec.nodeName!=", resourceVersion=self._from, timeoutSeconds=3600)
        self._connection.sock.settimeout(None)

    def _read(self):
        data = bytearray()
        try:
            while len(self.instants) < self._expected and not self._closing:
                piece = self._answer.read1(1 << 16)
                now = time.monotonic()
                if piece:
                    data += piece
                    self._take(data, now)
                elif not self._closing:
                    self._reopen()
                    data.clear()
        except Exception as error:  # told to whoever waits
            self._error = error
        self._all.set()

    def _reopen(self):
        """The API server drops a watcher that does not keep up for a moment, as it does with a scheduler's watches."""
        self._connection.close()
        self.reopened += 1
        if self._last_frame:
            self._from = resource_version(self._last_frame)
        self._open()

    def _take(self, data, now):
        start = 0
        while len(data) - start >= 4:
            (length,) = struct.unpack_from(">I", data, start)
            if len(data) - start - 4 < length:
                break
            if data[start + 4:start + 4 + len(ADDED)] == ADDED:
                self.instants.append(now)
            last, start = start, start + 4 + length
        if start:
            self._last_frame = bytes(data[last + 4:start])
            del data[:start]

    def wait(self, process, seconds):
        """Until all are bound; fails when the process ends early or time runs out."""
        deadline = time.monotonic() + seconds
        while not self._all.wait(LEAD_SECONDS):
            late = time.monotonic() > deadline
            # A binder may end with its last answer, before the watch shows that bind.
            if late or (process.ended() and not self._all.wait(2)):
                raise Failure(f"{len(self.instants)} of {self._expected} pods bound "
                              f"{f'in {seconds} s' if late else 'when it ended'}; its log ends:\n{process.tail()}")
        if self._error:
            raise self._error

    def close(self):
        """Of a watch that still waits, the connection can be closed only once its reader has woken up."""
        self._closing = True
        with contextlib.suppress(OSError):  # the API server may be gone
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._connection.close()


def wait_for_events(api, pods):
    """When each pod has its Scheduled Event: the instant and how many pods have one. Fewer than `pods` if no more came."""
    needed, seen, seen_at = pods, -1, time.monotonic()
    while True:
        now = time.monotonic()
        # The count alone is cheap; which Events these are is read only when there are enough, or no more come.
        page = api.page(EVENTS, limit=1)
        total = len(page["items"]) + page["metadata"].get("remainingItemCount", 0)
        if total > seen:
            seen, seen_at = total, now
        stalled = now - seen_at > EVENT_STALL_SECONDS
        if total >= needed or stalled:
            have, listed = _scheduled(api)
            if have >= pods or stalled:
                return (seen_at if stalled else now), have
            needed = listed + pods - have
        time.sleep(EVENT_POLL_SECONDS)


def _scheduled(api):
    pods, listed = set(), 0
    for event in api.items(EVENTS):
        listed += 1
        if event.get("reason") == "Scheduled" and event["regarding"]["kind"] == "Pod":
            pods.add(event["regarding"]["uid"])
    return len(pods), listed


def check_truth(api, pods, room):
    """All pods are bound, and no node holds more than it has room for."""
    per_node = collections.Counter(pod["spec"].get("nodeName", "") for pod in api.items("/api/v1/pods"))
    if sum(per_node.values()) != pods or per_node[""]:
        raise Failure(f"{per_node['']} of {sum(per_node.values())} pods are not bound, of {pods} that were made")
    crowded, most = per_node.most_common(1)[0]
    if most > room:
        raise Failure(f"node {crowded} holds {most} pods and has room for {room}")
