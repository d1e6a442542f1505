# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by the DevTools protocol over a pair of pipes: no driver and no library is needed.

  with Browser() as browser:
      page = browser.page()
      page.open("http://127.0.0.1:8080/ui/")
      page.until("document.title == 'Tutti'", "the title is there")

Errors of the page (uncaught exceptions, refusals of the Content-Security-Policy) are collected in `page.errors`.
"""

import base64
import collections
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SECONDS = 60


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Failed(AssertionError):
    pass


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="tutti-ui-")
        commands, self.write_fd = os.pipe()
        self.read_fd, answers = os.pipe()

        def give_pipes():  # the protocol's own descriptors: 3 to read, 4 to write
            high = os.dup(commands), os.dup(answers)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-dev-shm-usage", "--disable-extensions", "--ignore-certificate-errors",
             "--disable-background-networking", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=give_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer = b""
        self.last_id = 0
        self.answers = {}
        self.listeners = collections.defaultdict(list)  # by session

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for fd in (self.write_fd, self.read_fd):
            os.close(fd)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def page(self, width=1280, height=800):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        return Page(self, target, session, width, height)

    def call(self, method, parameters=None, session=None):
        self.last_id += 1
        number = self.last_id
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        deadline = time.monotonic() + SECONDS
        while number not in self.answers:
            if not self.read(deadline - time.monotonic()):
                raise Failed(f"no answer to {method}")
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def read(self, seconds):
        """Takes what has come. False: nothing came in that time."""
        if seconds <= 0 or not select.select([self.read_fd], [], [], seconds)[0]:
            return False
        data = os.read(self.read_fd, 1 << 20)
        if not data:
            raise Failed("the browser has ended")
        *messages, self.buffer = (self.buffer + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                for listen in self.listeners[message.get("sessionId")]:
                    listen(message["method"], message["params"])
        return True


class Page:
    def __init__(self, browser, target, session, width, height):
        self.browser, self.target, self.session, self.errors, self.requests = browser, target, session, [], []
        browser.listeners[session].append(self.hear)
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def call(self, method, **parameters):
        return self.browser.call(method, parameters, self.session)

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def hear(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            if parameters["entry"]["source"] != "network":  # answers of a server that is away or refuses
                self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def resize(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def prefer(self, **features):
        """For example prefers_color_scheme="dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def open(self, url):
        # A change of the part after "#" alone is no new page.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def run(self, expression):
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failed(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, expression, what, seconds=SECONDS):
        """Waits until the expression is true."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if self.run(f"Boolean({expression})"):
                    return
            except Failed:
                pass  # the page is being loaded
            self.browser.read(0.05)
        raise Failed(f"not within {seconds} s: {what}\n{self.text()[:2000]}\n{self.errors}")

    def text(self):
        return self.run("document.body.innerText")

    def key(self, key, code=None, number=0, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def shot(self, file):
        file = pathlib.Path(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def metric(self, name):
        """For example TaskDuration: seconds for which the main thread worked."""
        return {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}[name]


class Looks:
    """What tests do with the console in `self.page`."""

    def go(self, address):
        self.page.run(f"location.hash = {json.dumps(address)}")

    def shows(self, *texts):
        for text in texts:
            self.page.until(f"document.body.innerText.includes({json.dumps(text)})", f"it shows {text!r}")

    def hides(self, text):
        self.page.until(f"!document.body.innerText.includes({json.dumps(text)})", f"it does not show {text!r}")
