# SPDX-License-Identifier: Apache-2.0
"""The small words of a walkthrough: variables, durations, and the two ways in which one can end badly."""

import re
import time


class BadWalkthrough(Exception):
    """The walkthrough itself is wrong: an unknown word, or an expectation that nothing could fail."""


class StepFailed(Exception):
    """An expectation was not met; the text says which, and what was seen instead."""


def substitute(text, variables):
    """Replaces ${name}; an unknown name is a mistake of the walkthrough."""

    def value(found):
        if found.group(1) not in variables:
            raise BadWalkthrough(f"${{{found.group(1)}}} was never set")
        return str(variables[found.group(1)])

    return re.sub(r"\$\{(\w+)\}", value, text)


def substitute_all(value, variables):
    if isinstance(value, str):
        return substitute(value, variables)
    if isinstance(value, list):
        return [substitute_all(item, variables) for item in value]
    if isinstance(value, dict):
        return {key: substitute_all(item, variables) for key, item in value.items()}
    return value


def seconds(text):
    """"10s", "2m" or a number."""
    found = re.fullmatch(r"([\d.]+)(ms|s|m)?", str(text))
    if not found:
        raise BadWalkthrough(f"{text!r} is no duration (10s, 500ms, 2m)")
    return float(found.group(1)) * {"ms": 0.001, "m": 60}.get(found.group(2), 1)


def pause(started):
    """Between two polls: short at first, a second once the wait is a long one."""
    time.sleep(min(1.0, 0.1 + (time.monotonic() - started) / 10))
