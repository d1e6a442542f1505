#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A picture of each view of the console, light, dark and on a phone, over a made-up cluster.

  screenshots.py FOLDER
"""

import pathlib
import sys
import threading
import time

from browser import Browser
from cluster import Cluster
from mock import Mock, live

VIEWS = {"waiting": "#/waiting", "gangs": "#/gangs", "queues": "#/queues", "queue": "#/queues/research", "nodes": "#/nodes?color=queue",
         "list-of-nodes": "#/nodes?as=list", "time": "#/time"}
SECONDS = 25  # that the picture of time shows


def main():
    folder = pathlib.Path(sys.argv[1])
    mock = Mock(Cluster())
    waiting = next(gang for gang in mock.cluster.gangs.values() if gang.get("why", {}).get("kind") == "nodes" and 4 < gang["members"] < 20)
    name = f"{waiting['namespace']}/{waiting['name']}"
    views = {**VIEWS, "gang": f"#/gangs/{name}", "room": f"#/nodes?gang={name}&node=gpu-003"}
    threading.Thread(target=live, args=(mock,), daemon=True).start()
    with Browser() as browser:
        for kind, width, height, theme in (("light", 1280, 800, "light"), ("dark", 1280, 800, "dark"), ("phone", 390, 800, "light")):
            page = browser.page(width, height)
            page.prefer(prefers_color_scheme=theme)
            page.open(mock.url + "#/time")
            page.until("document.querySelector('.legend')?.childElementCount > 1", "the cluster is there")
            since = time.monotonic()
            while time.monotonic() - since < SECONDS:
                browser.read(0.2)
            for view, address in views.items():
                page.run(f"location.hash = {address!r}")
                page.until("document.querySelector('h1') && !document.querySelector('main').innerText.includes('…\\n')", view)
                since = time.monotonic()
                while time.monotonic() - since < 1:
                    browser.read(0.1)
                page.shot(folder / f"{view}-{kind}.png")
            if page.errors:
                sys.exit("\n".join(page.errors))
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main()
