# SPDX-License-Identifier: Apache-2.0
"""The simulated autoscaler (`tutti sim autoscaler`) as a process beside the scheduler."""

import pathlib
import subprocess

from runner.scheduler import SPAWN, end


class Autoscaler:
    """Runs from its construction until `stop`. It speaks as the administrator: it stands for the cloud's own autoscaler."""

    def __init__(self, binary, directory, kubeconfig, node, wait):
        self._log = pathlib.Path(directory) / "autoscaler.log"
        words = [str(binary), "sim", "autoscaler", "--kubeconfig", str(kubeconfig), "--node", str(node)]
        words += ["--wait"] if wait else []
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen([*SPAWN, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.command = " ".join(words)

    def stop(self):
        """Ends it, and answers as `end`."""
        return end(self._process)

    def tail(self, lines=20):
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])
