# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of one walkthrough and tells what happens. The words of the data are described in README.md."""

import os
import pathlib
import re
import shlex
import subprocess
import time

from runner import expect, host
from runner.words import BadWalkthrough, StepFailed, pause, seconds, substitute, substitute_all

HERE = pathlib.Path(__file__).resolve().parent.parent

STEP_WORDS = {
    "say": set(),
    "kubectl": {"stdin", "file", "with", "expect", "within", "fails", "capture", "quiet"},
    "host": None,  # Every action of host.py names its own.
    "repeat": {"steps", "set"},
}


class Session:
    """One walkthrough on one cluster. `variables` live as long as it does; `watches` and `tallies` too."""

    def __init__(self, cluster, scheduler, kubectl, directory, random, out, binary=None):
        self.cluster = cluster
        self.scheduler = scheduler
        self.kubectl_path = kubectl
        self.random = random
        self.variables = {}
        self.watches = {}
        self.tallies = {}
        self.directory = pathlib.Path(directory)
        self.environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(directory),
                            "KUBECACHEDIR": str(self.directory / "kubectl-cache")}
        self.binary = binary  # tutti, for what it does beside scheduling
        self.autoscaler = None
        self._out = out

    def tell(self, text=""):
        print(text, file=self._out, flush=True)

    def kubectl(self, arguments, stdin=None):
        """Runs kubectl once; (exit code, stdout, stderr)."""
        try:
            done = subprocess.run([self.kubectl_path, *arguments], input=stdin, text=True, capture_output=True,
                                  env=self.environment, cwd=HERE, timeout=120)
        except subprocess.TimeoutExpired:
            return 124, "", f"kubectl {' '.join(arguments)} did not end within 120 s"
        return done.returncode, done.stdout, done.stderr

    def run(self, steps):
        for step in steps:
            self.step(step)

    def step(self, step):
        if step.get("only", self.cluster.name) != self.cluster.name:
            return
        verb = next(iter(step))
        if verb not in STEP_WORDS:
            raise BadWalkthrough(f"a step begins with one of {', '.join(STEP_WORDS)}, not {verb!r}")
        allowed = STEP_WORDS[verb]
        unknown = set(step) - {verb, "only"} - (allowed or set())
        if allowed is not None and unknown:
            raise BadWalkthrough(f"{verb}: unknown {', '.join(sorted(unknown))}")
        getattr(self, f"_{verb}")(step)

    def _say(self, step):
        self.tell()
        for line in substitute(step["say"], self.variables).strip().splitlines():
            self.tell(f"# {line}")

    def _host(self, step):
        host.act(self, step)

    def _repeat(self, step):
        for self.variables["round"] in range(1, int(step["repeat"]) + 1):
            for name, value in step.get("set", {}).items():
                self.variables[name] = self._value(value)
            self.tell(f"\n# round {self.variables['round']} of {step['repeat']}"
                      + "".join(f", {name} = {self.variables[name]}" for name in step.get("set", {})))
            self.run(step["steps"])

    def _value(self, value):
        if isinstance(value, dict) and "random" in value:
            return self.random.randint(*value["random"])
        if isinstance(value, dict) and "cycle" in value:
            return value["cycle"][(self.variables["round"] - 1) % len(value["cycle"])]
        return substitute_all(value, self.variables)

    def _kubectl(self, step):
        variables = {**self.variables, **substitute_all(step.get("with", {}), self.variables)}
        line = substitute(step["kubectl"], variables)
        arguments = shlex.split(line)
        stdin = step.get("stdin")
        if "file" in step:
            stdin = (HERE / step["file"]).read_text()
        if stdin is not None:
            stdin = substitute(stdin, variables)
        self._show_command(line, stdin, step)
        expectation = substitute_all(step.get("expect"), variables)
        if "within" in step and expectation is None:
            raise BadWalkthrough(f"kubectl {line}: `within` needs an `expect`")
        limit = seconds(step.get("within", 0))
        started = time.monotonic()
        while True:
            code, out, err = self.kubectl(arguments, stdin)
            wrong = self._judge(arguments, expectation, step.get("fails", False), code, out, err)
            if wrong is None or time.monotonic() - started > limit:
                break
            self.check_scheduler()
            pause(started)
        self._show_output(out, err, step)
        if wrong:
            late = f" (for {limit:g} s)" if limit else ""
            raise StepFailed(f"kubectl {line}\n{wrong}{late}; it printed:\n{(out + err).rstrip()}")
        if expectation is not None and not step.get("quiet"):
            self.tell(f"  ok{f' after {time.monotonic() - started:.1f} s' if limit else ''}")
        if "capture" in step:
            self._capture(substitute_all(step["capture"], variables), out, line)

    def _capture(self, wanted, out, line):
        """Keeps all that was printed under a name, or under each name the first group of its regular expression."""
        if not isinstance(wanted, dict):
            self.variables[wanted] = out.strip()
            return
        for name, pattern in wanted.items():
            found = re.search(pattern, out, re.MULTILINE)
            if not found:
                raise StepFailed(f"kubectl {line}\nnothing matches /{pattern}/; it printed:\n{out.rstrip()}")
            self.variables[name] = found.group(1)

    def _judge(self, arguments, expectation, fails, code, out, err):
        if fails != (code != 0):
            return "expected it to be refused" if fails else f"kubectl ended with {code}"
        if expectation is None:
            return None
        wrong = expect.judge(expectation, err if fails else out)
        if wrong:
            return wrong
        for path, wanted in expectation.get("jsonpath", {}).items():
            code, value, err = self.kubectl([*arguments, "-o", f"jsonpath={path}"])
            # Written as a regular expression between slashes, or as the exact text.
            wanted = str(wanted)
            wrong = expect.matches(wanted[1:-1], value) if re.fullmatch("/.*/", wanted) else expect.equals(wanted, value)
            if code != 0 or wrong:
                return f"{path} is {value.strip()!r} {err.strip()}: {wrong or 'kubectl failed'}"
        return None

    def _show_command(self, line, stdin, step):
        self.tell(f"$ kubectl {line}" + (f"    # {step['file']}" if "file" in step else ""))
        if stdin is not None and "file" not in step and not step.get("quiet"):
            for text in stdin.rstrip().splitlines():
                self.tell(f"  | {text}")

    def _show_output(self, out, err, step):
        if step.get("quiet"):
            return
        for text in (out + err).rstrip().splitlines():
            self.tell(f"  {text}")

    def check_scheduler(self):
        code = self.scheduler.died()
        if code is not None:
            raise StepFailed(f"the scheduler ended by itself with {code}; its log ends:\n{self.scheduler.tail()}")

    def close(self):
        for watch in self.watches.values():
            watch.stop()
        if self.autoscaler:
            self.autoscaler.stop()
        if self.scheduler.running():
            self.scheduler.stop()
