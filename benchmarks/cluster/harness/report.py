# SPDX-License-Identifier: Apache-2.0
"""Figures, their medians, and what was to be reached."""

import csv
import dataclasses
import itertools
import math
import random
import statistics

RAW, CLIENT_GO, LONE, GANGS, PEER = "raw binder", "client-go binder", "tutti, lone pods", "tutti, gangs", "kube-scheduler"
DOORS = "tutti, all doors in use"

EVENT_LIMIT_SECONDS = 10 / 8000  # for each pod of a wave
RESAMPLES = 500


@dataclasses.dataclass
class Figures:
    """One row's wave. Times in seconds, CPU in seconds per 1,000 pods, memory in MiB."""
    who: str
    round: int  # in which each row has one wave; 0: of several
    pods: int
    pods_per_s: float
    start_to_first: float
    start_to_last: float
    cpu_to_last_bind: float
    cpu_to_events: float
    peak_rss: float
    events_after: float | None  # None: it writes none
    pods_with_event: int | None
    others_cpu: float  # share of the machine used by what is no part of the row


def medians(rows):
    """Per row, the median of each figure over its waves; rows in the order of their first appearance."""
    result = {}
    for who in dict.fromkeys(row.who for row in rows):
        same = [row for row in rows if row.who == who]
        merged = {"who": who, "round": 0}
        for field in dataclasses.fields(Figures)[2:]:
            values = [getattr(row, field.name) for row in same]
            # One Event that is missing in one wave is missing.
            middle = min if field.name == "pods_with_event" else statistics.median
            merged[field.name] = None if None in values else middle(values)
        result[who] = Figures(**merged)
    return result


def table(lines, left=1):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) if i < left else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def number(value, digits):
    return "-" if value is None else f"{value:,.{digits}f}"


def rows_table(rows):
    lines = [["", "pods", "pods/s", "start to", "start to", "CPU-s/1,000", "CPU-s/1,000", "peak RSS", "Events", "others'"],
             ["", "", "", "first bind", "last bind", "to last bind", "to Events", "MiB", "after", "CPU"]]
    for row in rows:
        without = row.pods_with_event is not None and row.pods_with_event < row.pods
        lines.append([row.who, number(row.pods, 0), number(row.pods_per_s, 0), f"{row.start_to_first:.2f} s",
                      f"{row.start_to_last:.2f} s", number(row.cpu_to_last_bind, 3), number(row.cpu_to_events, 3),
                      number(row.peak_rss, 0),
                      f"only {row.pods_with_event:,.0f}" if without
                      else "-" if row.events_after is None else f"{row.events_after:.1f} s",
                      f"{row.others_cpu:.0%}"])
    return table(lines)


def paired(rows, one, other, ratio):
    """The ratio of one's wave to the other's of each round. Both met the same machine, whatever it did between rounds."""
    others = {row.round: row for row in rows if row.who == other.who}
    return [ratio(row, others[row.round]) for row in rows if row.who == one.who]


def centre(ratios):
    """Hodges and Lehmann's estimate: the median of the geometric means of all pairs.

    One bad second moves it as little as the median, and as many rounds make it surer.
    """
    logs = map(math.log, ratios)
    return math.exp(statistics.median(map(statistics.fmean, itertools.combinations_with_replacement(logs, 2))))


def standard_error(ratios):
    """Of their centre: how it scatters when as many rounds are drawn from these, again and again (bootstrap)."""
    draw = random.Random(0)
    return statistics.pstdev(centre(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))


def duration(row, waves):
    """From the start to the last bind of as many waves, had all been there at the start."""
    return row.start_to_first + waves * (row.start_to_last - row.start_to_first)


def targets(rows, waves):
    """(what, figure, its standard error and of how many rounds, bound as text, reached) of each target that the rows can judge.

    Of `waves` 1 means one gang: it is of use with its last bind, and it counts when that was, not how long ago the first one was.
    The limit is the faster binder's, by its median.
    """
    by_who = medians(rows)
    raw = max((by_who[who] for who in (RAW, CLIENT_GO) if who in by_who), default=None,
              key=lambda row: -row.start_to_last if waves == 1 else row.pods_per_s)
    ours = [by_who[who] for who in (LONE, GANGS) if who in by_who]
    peer = by_who.get(PEER)
    result = []

    def compare(row, what, ratio, form, bound, reached, other=raw):
        ratios = paired(rows, row, other, ratio)
        share = centre(ratios)
        error = f"± {standard_error(ratios):{form}}, {len(ratios)} rounds"
        result.append((f"{row.who}: {what}", f"{share:{form}}", error, bound, reached(share)))

    if DOORS in by_who and LONE in by_who:
        compare(by_who[DOORS], "pods/s, of those with no door open", lambda one, other: one.pods_per_s / other.pods_per_s, ".1%",
                "at least 95 %", lambda share: share >= 0.95, by_who[LONE])
    for row in ours:
        if raw and waves == 1:
            compare(row, "start to last bind, of the raw limit", lambda one, other: duration(other, 1) / duration(one, 1), ".1%",
                    "at least 95 %", lambda share: share >= 0.95)
        elif raw:
            compare(row, "pods/s, of the raw limit", lambda one, other: one.pods_per_s / other.pods_per_s, ".1%",
                    "at least 95 %", lambda share: share >= 0.95)
            compare(row, f"start to last bind of {waves} waves, of the faster binder's",
                    lambda one, other: duration(one, waves) / duration(other, waves), ".2f",
                    "at most 1.2", lambda times: times <= 1.2)
        if peer:
            cpu = row.cpu_to_events / peer.cpu_to_events
            result.append((f"{row.who}: CPU per pod, of kube-scheduler's", f"1/{1 / cpu:.1f}", "", "at most 1/10", cpu <= 1 / 10))
            memory = row.peak_rss / peer.peak_rss
            result.append((f"{row.who}: peak RSS, of kube-scheduler's", f"1/{1 / memory:.1f}", "", "at most 1/3", memory <= 1 / 3))
        complete = row.pods_with_event == row.pods
        result.append((f"{row.who}: every pod's Event, after the last bind",
                       f"{row.events_after:.1f} s" if complete else f"only {row.pods_with_event:,.0f} of {row.pods:,.0f}", "",
                       f"within {row.pods * EVENT_LIMIT_SECONDS:.2f} s", complete and row.events_after <= row.pods * EVENT_LIMIT_SECONDS))
    return result


def targets_table(judged):
    return table([["", "measured", "standard error", "to reach", "reached"]] +
                 [[what, figure, spread, bound, "yes" if reached else "NO"] for what, figure, spread, bound, reached in judged])


def write_csv(path, header, lines):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *lines])


def write_all(directory, rows, judged):
    write_csv(directory / "rows.csv", [field.name for field in dataclasses.fields(Figures)],
              [dataclasses.astuple(row) for row in rows])
    write_csv(directory / "targets.csv", ["what", "measured", "standard_error", "to_reach", "reached"],
              [(*judgement, "yes" if reached else "no") for *judgement, reached in judged])
