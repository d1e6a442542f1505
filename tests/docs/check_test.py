#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants what check.py must find in documents, and what it must let pass."""

import pathlib
import tempfile
import unittest

import check

LONG = "word " * 30 + "end."


class Check(unittest.TestCase):
    def test_long_sentences_are_found_in_paragraphs_items_and_cells(self):
        for text in (LONG, f"- {LONG}", f"1. {LONG}", f"| a | {LONG} |", LONG.replace(" word word", "\nword word", 1)):
            self.assertEqual(len(list(check.complaints(text))), 1, text)

    def test_code_headings_and_links_do_not_count(self):
        for text in (f"```\n{LONG}\n```", f"# {LONG}", f"`{LONG}` is short.", f"See [here](https://{'a/' * 40}).", f"    {LONG}"):
            self.assertEqual(list(check.complaints(text)), [], text)

    def test_short_sentences_in_a_row_are_short(self):
        self.assertEqual(list(check.complaints("This is short. " * 20)), [])

    def test_words_that_have_to_be_looked_up_are_found(self):
        self.assertEqual(list(check.complaints("It waits for ever.")), [(1, 'the word "for ever": It waits for ever.')])
        self.assertEqual(list(check.complaints("It waits without end.")), [])

    def test_links_that_lead_nowhere_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "b.md").write_text("# One `two`, three\n```\n# not a heading\n```\n")
            for target, wrong in (("b.md", 0), ("b.md#one-two-three", 0), ("#a", 0), ("https://example.com/x", 0), ("c.md", 1),
                                  ("b.md#not-a-heading", 1), ("../../etc/hostname", 1), ("#nothing", 1)):
                (root / "a.md").write_text(f"# A\n[x]({target}) and `[y](code.md)`\n")
                self.assertEqual(len(list(check.broken_links(root / "a.md", root))), wrong, target)


if __name__ == "__main__":
    unittest.main()
