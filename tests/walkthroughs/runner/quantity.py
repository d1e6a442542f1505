# SPDX-License-Identifier: Apache-2.0
"""Kubernetes quantities, in thousandths."""

import re
from fractions import Fraction

SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": 1,
            **{suffix: 1000**(power + 1) for power, suffix in enumerate("kMGTPE")},
            **{f"{suffix}i": 1024**(power + 1) for power, suffix in enumerate("KMGTPE")}}


def milli(text):
    """"1500m" is 1500, "2Gi" is 2147483648000; fractions of a thousandth round up."""
    found = re.fullmatch(r"([+-]?[\d.]+)(?:[eE]([+-]?\d+)|([a-zA-Z]{0,2}))", str(text))
    value = Fraction(found.group(1)) * (Fraction(10)**int(found.group(2)) if found.group(2) else SUFFIXES[found.group(3) or ""])
    return -(-value * 1000 // 1)
