# SPDX-License-Identifier: Apache-2.0
"""Judges what kubectl printed. Every function answers None, or a sentence that says what is wrong."""

import re

from runner.words import BadWalkthrough


def listed(value):
    return value if isinstance(value, list) else [value]


def equals(wanted, text):
    if text.strip() != str(wanted).strip():
        return f"expected exactly {str(wanted).strip()!r}"
    return None


def contains(wanted, text):
    # kubectl wraps long strings in its YAML: compare with the white space folded.
    folded = " ".join(text.split())
    missing = [str(part) for part in listed(wanted) if " ".join(str(part).split()) not in folded]
    return f"expected to contain {missing[0]!r}" if missing else None


def lacks(unwanted, text):
    present = [str(part) for part in listed(unwanted) if str(part) in text]
    return f"expected not to contain {present[0]!r}" if present else None


def matches(wanted, text):
    for pattern in listed(wanted):
        if not re.search(pattern, text, re.MULTILINE):
            return f"expected to match /{pattern}/"
    return None


def lines(wanted, text):
    """[{like: REGEX, count: N}]: so many lines match; `total: N` counts all lines that are not empty."""
    printed = [line for line in text.splitlines() if line.strip()]
    for rule in listed(wanted):
        if "total" in rule:
            found, what = len(printed), "lines"
            count = rule["total"]
        else:
            found = sum(1 for line in printed if re.search(rule["like"], line))
            what, count = f"lines like /{rule['like']}/", rule["count"]
        if found != int(count):
            return f"expected {count} {what}, found {found}"
    return None


def shares(wanted, text):
    """{with: WORDS, exactly: N}: so many of those words are printed again."""
    common = len(set(str(wanted["with"]).split()) & set(text.split()))
    if common != int(wanted["exactly"]):
        return f"expected exactly {wanted['exactly']} words in common with the earlier ones, found {common}"
    return None


JUDGES = {"equals": equals, "contains": contains, "lacks": lacks, "matches": matches, "lines": lines, "shares": shares}


def judge(expectation, text):
    """The first of the expectation's rules that `text` breaks, or None."""
    if not isinstance(expectation, dict) or not expectation:
        raise BadWalkthrough(f"an expectation is a map of {', '.join(JUDGES)} and jsonpath, not {expectation!r}")
    for word, wanted in expectation.items():
        if word == "jsonpath":
            continue  # Asks kubectl again: session.py does it.
        if word not in JUDGES:
            raise BadWalkthrough(f"unknown expectation {word!r}; there are: {', '.join(JUDGES)}, jsonpath")
        wrong = JUDGES[word](wanted, text)
        if wrong:
            return wrong
    return None
