#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kubectl tutti get --watch` and `top`: what they print while a cluster changes, and what they leave of a terminal.

  ctl_screen_test.py PATH-TO-TUTTI
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
from serving import SECONDS, eventually, fetch

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """A program on a terminal of its own, of 80 columns."""

    def __init__(self, test, *command, rows=24):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        self.theirs, self.before = theirs, termios.tcgetattr(theirs)
        self.process = subprocess.Popen([*map(str, command)], stdin=theirs, stdout=theirs, stderr=theirs)
        self.text = ""
        test.addCleanup(os.close, self.ours)
        test.addCleanup(os.close, theirs)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def type(self, keys):
        self.text = ""
        os.write(self.ours, keys.encode())

    def until(self, wanted):
        """What it has printed since the last key, once that has `wanted`."""
        deadline = time.monotonic() + SECONDS
        while wanted not in self.text:
            ready, _, _ = select.select([self.ours], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {wanted!r} in {self.text!r}"
            self.text += os.read(self.ours, 65536).decode()
        return self.text


class Screen(rig.OfTheSim):
    def watch(self, *arguments):
        """The lines of `get --watch`, as they come."""
        process = subprocess.Popen([rig.TUTTI, "ctl", "get", *arguments, "--watch", "--server", self.url],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = []
        threading.Thread(target=lambda: [lines.append(line.split()) for line in process.stdout], daemon=True).start()
        eventually(lambda: len(lines) >= 2, "the list was printed")
        return lines

    def test_gangs_are_printed_as_they_change(self):
        lines = self.watch("gangs")
        waiting = self.watch("gangs", "--state", "waiting-for-nodes")
        eventually(lambda: len(lines) >= 3, "both gangs were printed")
        self.assertEqual(lines[0], ["NAME", "KIND", "QUEUE", "PRIORITY", "STATE", "BOUND", "AGE"])
        self.assertEqual([line[:5] for line in lines[1:]], [["first", "volcano", "research", "0", "whole"],
                                                            ["second", "volcano", "research", "0", "waiting-for-nodes"]])
        self.assertEqual([line[0] for line in waiting], ["NAME", "second"])
        for i in range(3):
            self.assertEqual(fetch(f"{self.url}/api/v1/namespaces/default/pods/first-{i}", "DELETE")[0], 200)
        eventually(lambda: ["second", "whole"] in [[line[0], line[4]] for line in lines], "the second one is whole")
        eventually(lambda: len(waiting) > 2, "it waits no more")
        self.assertEqual(waiting[-1][0], "second")
        self.assertNotEqual(waiting[-1][4], "waiting-for-nodes")
        self.apply(rig.gang("third", 2, "3"))
        eventually(lambda: ["third", "waiting-for-nodes"] in [[line[0], line[4]] for line in waiting], "the third one waits")
        self.assertEqual(sum(line[0] == "second" for line in waiting), 2)

    def test_queues_and_nodes_are_printed_as_they_change(self):
        queues, nodes = self.watch("queues"), self.watch("nodes")
        self.assertIn("cpu=6/16", next(line for line in queues if line[0] == "research"))
        self.apply(rig.gang("third", 1, "1"))
        self.apply(rig.gang("fourth", 2, "4"))
        eventually(lambda: any(line[0] == "research" and line[-3:] == ["cpu=7/16", "2", "2"] for line in queues),
                   lambda: f"one more runs, and one more waits: {queues}")
        for i in range(3):
            fetch(f"{self.url}/api/v1/namespaces/default/pods/first-{i}", "DELETE")
        eventually(lambda: any(line[0].startswith("node-") and "0/4" in line for line in nodes),
                   lambda: f"a node is full: {nodes}")
        self.assertEqual(fetch(self.url + "/api/v1/nodes/node-2", "DELETE")[0], 200)
        eventually(lambda: ["node-2", "gone"] in [line[:2] for line in nodes], "the node is gone")

    def test_a_watch_prints_tables_alone(self):
        done = self.ctl("get", "gangs", "-w", "-o", "json", "--server", self.url)
        self.assertEqual((done.returncode, done.stderr), (2, "error: --watch prints a table: -o is table or wide\n"))

    def top(self, **more):
        return Terminal(self, rig.TUTTI, "ctl", "top", "--server", self.url, **more)

    def test_top_turns_to_other_lists_and_leaves_the_terminal_as_it_was(self):
        screen = self.top()
        first = screen.until("first")
        self.assertIn(ENTER, first)
        self.assertIn("2 gangs: 1 waiting-for-nodes, 1 whole", first)
        self.assertLess(first.index("second"), first.index("first"), "gangs that wait come first")
        self.assertFalse(termios.tcgetattr(screen.theirs)[3] & termios.ECHO)
        screen.type("\x1b[C")
        self.assertIn("[queues]", screen.until("research"))
        screen.type("\x1b[C")
        self.assertIn("[nodes]", screen.until("node-2"))
        screen.type("\x1b[C\x1b[D")
        screen.until("[nodes]")
        screen.type("q")
        self.assertEqual(screen.process.wait(SECONDS), 0)
        screen.until(LEAVE)
        self.assertEqual(termios.tcgetattr(screen.theirs), screen.before)

    def test_top_scrolls_and_draws_within_the_terminal(self):
        screen = self.top(rows=4)
        text = screen.until("second")
        self.assertNotIn("first", text)
        screen.type("\x1b[B")
        self.assertNotIn("second", screen.until("first"))
        screen.type("\x1b[A")
        self.assertNotIn("first", screen.until("second"))
        frames = [frame for frame in screen.until("\x1b[J").split("\x1b[J")[:-1] if frame.startswith("\x1b[1;1H")]
        self.assertTrue(frames)
        for line, text in re.findall(r"\x1b\[(\d+);1H(.*?)\x1b\[K", "".join(frames)):
            self.assertLessEqual(int(line), 4)
            self.assertLessEqual(len(text), 80)

    def test_top_shows_what_changes_and_ends_by_a_signal(self):
        screen = self.top()
        screen.until("first")
        self.apply(rig.gang("third", 1, "1"))
        screen.until("third")
        screen.process.send_signal(signal.SIGTERM)
        self.assertEqual(screen.process.wait(SECONDS), 0)
        self.assertEqual(termios.tcgetattr(screen.theirs), screen.before)

    def test_top_prints_once_if_there_is_no_terminal(self):
        done = self.ctl("top", "--server", self.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout)
        for wanted in ("2 gangs: ", "\ngangs\nNAMESPACE ", "\nqueues\nNAME ", "\nnodes\nNAME ", "node-2"):
            self.assertIn(wanted, done.stdout)


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
