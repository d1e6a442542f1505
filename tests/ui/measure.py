#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the console costs a browser: first paint, and the main thread's work, with a large cluster that changes all the time.

  measure.py [--nodes 5000] [--gangs 50000]
"""

import argparse
import threading
import time

from browser import Browser
from cluster import Cluster, stamp
from mock import Mock

ROWS = "document.querySelectorAll('table.list tbody:not(.space) tr').length"
# The tasks above 50 ms, which is what a browser calls long, since the page began.
LONG = """new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries().map((one) => [one.startTime, one.duration]))).observe({type: "longtask", buffered: true});
  setTimeout(() => done([]), 500);
})"""
CHANGES_A_SECOND, SECONDS = 100, 8


class Changes:
    """Changes gangs all the time, in a thread."""

    def __init__(self, mock):
        self.mock, self.on = mock, True
        self.waiting = [gang for gang in mock.cluster.gangs.values() if gang.get("position")]
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        number = 0
        while self.on:
            time.sleep(0.1)
            some = [self.waiting[(number + i) % len(self.waiting)] for i in range(CHANGES_A_SECOND // 10)]
            number += len(some)
            self.mock.set(*({**gang, "since": stamp(self.mock.cluster.now, number % 600)} for gang in some))

    def stop(self):
        self.on = False
        self.thread.join()


def row(what, page, work, seconds, begun):
    longest = max((duration for start, duration in page.run(LONG) if start >= begun), default=0)
    worst = f"{longest:.0f} ms" if longest else "below 50 ms"
    print(f"{what:46} {1000 * work / seconds:8.0f} ms/s {worst:>14}", flush=True)


def during(page, what, act, seconds=SECONDS):
    begun = page.run("performance.now()")
    before, since = page.metric("TaskDuration"), time.monotonic()
    act()
    while time.monotonic() - since < seconds:
        page.browser.read(0.05)
    row(what, page, page.metric("TaskDuration") - before, time.monotonic() - since, begun)


def scroll(page):
    for i in range(60):
        page.run(f"document.querySelector('.scroller').scrollTop = {i * 20000}")
        page.browser.read(0.03)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--gangs", type=int, default=50_000)
    arguments = parser.parse_args()
    mock = Mock(Cluster(arguments.nodes, arguments.gangs))
    print(f"{arguments.nodes} nodes, {arguments.gangs} gangs; the list is {len(mock.list()) / 1e6:.0f} MB")
    with Browser() as browser:
        page = browser.page()
        began = time.monotonic()
        page.open(mock.url)
        page.until("performance.getEntriesByName('first-contentful-paint').length > 0", "it paints")
        paint = page.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first paint {paint:.0f} ms")
        page.until(f"{ROWS} > 10", "rows")
        print(f"rows of the list after {time.monotonic() - began:.1f} s, the server's time included")
        print(f"{'':46} {'main thread':>13} {'longest task':>14}")
        row("opening it", page, page.metric("TaskDuration"), time.monotonic() - began, 0)
        changes = Changes(mock)
        try:
            during(page, f"the line, {CHANGES_A_SECOND} changes a second", lambda: None)
            during(page, "scrolling through it", lambda: scroll(page))
            for view in ("gangs", "queues", "nodes", "time"):
                during(page, f"#/{view}, opened", lambda: page.run(f"location.hash = '#/{view}'"))
            during(page, "#/time, after that", lambda: None)
        finally:
            changes.stop()
        print("errors:", page.errors or "none")


if __name__ == "__main__":
    main()
