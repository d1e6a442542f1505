#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the documents as a stranger does: links lead somewhere, sentences are short, words are plain.

  check.py [ROOT]

Of every *.md: a link to a file or to a heading that is not there. Of the documents in PLAIN also a sentence of more
than 25 words, and words that a reader has to look up. Tables count cell by cell.
"""

import pathlib
import re
import sys

MOST_WORDS = 25
# Documents for people who did not write Tutti.
PLAIN = ("README.md", "CHANGELOG.md", "SECURITY.md", "docs/README.md", "docs/comparison.md", "docs/users", "docs/admin", "docs/migrate/from-*.md",
         "docs/reference")
# Made from what other programs print.
GENERATED = {"docs/reference/flags.md", "docs/reference/metrics.md", "docs/reference/rbac.md", "docs/reference/chart.md"}
# Those of tests/layers/words.py, and more that are for people who grew up with English.
WORDS = re.compile(
    r"\b(whoever|whom|somebody|anybody|lest|for ever|heeds?|heeded|anew|thereof|hence|thus|albeit|notwithstanding|"
    r"aforementioned|utili[sz]e[sd]?|leverag(?:e|es|ed|ing)|facilitates?|seamless(?:ly)?|simply|obviously|in order to|"
    r"as well as|a plethora|prior to|subsequent(?:ly)?|upon|whilst|amongst)\b", re.IGNORECASE)
SKIPPED = {"build", ".git", "node_modules"}
COMMENT = re.compile(r" ?<!--.*?-->")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def documents(root):
    return [file for file in sorted(root.rglob("*.md")) if not SKIPPED & set(file.relative_to(root).parts)]


def anchor(heading):
    """The name that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(file):
    text = FENCE.sub("", file.read_text())
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def broken_links(file, root):
    """Sentences about links of `file` that lead nowhere. The web is not asked."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", file.read_text()))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, part = target.partition("#")
        there = (file.parent / path).resolve() if path else file
        if not there.exists():
            yield f"there is no {target}"
        elif root not in (there, *there.parents):
            yield f"{target} is not in this repository"
        elif part and there.suffix == ".md" and part not in anchors(there):
            yield f"{target}: there is no such heading"


def prose(text):
    """(line, text) of each paragraph, list item and cell, without code and comments."""
    text = COMMENT.sub("", text)
    paragraph, begin = [], 0
    fenced = False
    for number, line in enumerate(text.splitlines() + [""], start=1):
        if line.startswith("```"):
            fenced = not fenced
        stripped = line.strip()
        is_break = fenced or not stripped or stripped.startswith(("```", "#", "|", "<", "- ", "* ")) or re.match(r"\d+\. ", stripped)
        if is_break and paragraph:
            yield begin, " ".join(paragraph)
            paragraph = []
        if fenced or not stripped or stripped.startswith(("```", "#", "<")) or line.startswith("    "):
            continue
        if stripped.startswith("|"):
            for cell in stripped.strip("|").split(" | "):
                yield number, cell.strip()
            continue
        if not paragraph:
            begin = number
        paragraph.append(re.sub(r"^([-*]|\d+\.) ", "", stripped))


def sentences(text):
    # A piece of code, a link or a quotation is one word, whatever is in it.
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return [each.strip() for each in re.split(r"(?<=[.!?:])[\"*)]*\s+|;\s", text) if each.strip()]


def complaints(text):
    for line, paragraph in prose(text):
        for sentence in sentences(paragraph):
            count = len(re.findall(r"[\w'’/%.-]*\w[\w'’/%.-]*", sentence))
            if count > MOST_WORDS:
                yield line, f"a sentence of {count} words: {sentence}"
            if found := WORDS.search(sentence):
                yield line, f'the word "{found[0]}": {sentence}'


def is_plain(file, root):
    return file.relative_to(root).as_posix() not in GENERATED and any(
        file == each or each in file.parents for pattern in PLAIN for each in root.glob(pattern))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found, files = [], documents(root)
    for file in files:
        name = file.relative_to(root)
        found += [f"{name}: {each}" for each in broken_links(file, root)]
        if is_plain(file, root):
            found += [f"{name}:{line}: {each}" for line, each in complaints(file.read_text())]
    print("\n".join(found + [f"{len(files)} documents, {len(found)} complaints"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
