# SPDX-License-Identifier: Apache-2.0
"""What differs on purpose: differences.yaml, a list of {line: REGEX, why: SENTENCE, in: [SCRIPT...]}."""

import re

import yaml


class Differences:
    def __init__(self, path):
        self._entries = [{**entry, "regex": re.compile(entry["line"]), "seen": 0} for entry in yaml.safe_load(path.read_text()) or []]

    def explains(self, script, line):
        """True if an entry is about that line; `in` limits an entry to some scripts."""
        for entry in self._entries:
            if entry["regex"].search(line) and script in entry.get("in", [script]):
                entry["seen"] += 1
                return True
        return False

    def count(self):
        return len(self._entries)

    def used(self):
        return sum(entry["seen"] > 0 for entry in self._entries)

    def unseen(self):
        return [entry["line"] for entry in self._entries if not entry["seen"]]
