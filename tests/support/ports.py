# SPDX-License-Identifier: Apache-2.0
"""A port for a server that is about to start, and to be started again."""

import pathlib
import random
import socket

FIRST = 10000
TRIES = 1000
given = set()  # by this process: two servers may be told theirs before either starts


def free_port():
    """A loopback port on which nothing listens. It is below those that the kernel gives to outgoing connections: such a
    connection of any process could take the port between this choice and the server's start."""
    words = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    end = max(int(words[0]), FIRST + TRIES)
    for _ in range(TRIES):
        port = random.SystemRandom().randrange(FIRST, end)
        if port in given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        given.add(port)
        return port
    raise OSError(f"no free port among {TRIES} tried from {FIRST} to {end}")
