#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer check must see what is planted: each wrong edge in a tree that is otherwise right."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

RIGHT = {
    "scheduler/base/clock.h": "#include <string>\n",
    "scheduler/model/pod.h": '#include "base/clock.h"\n#include "model/pod.h"\n',
    "scheduler/kube/client.cc": '#include <curl/curl.h>\n#include "cluster/ports.h"\n',
    "scheduler/app/main.cc": '#include "core/scheduler.h"\n#include "sim/store/store.h"\n#include "plugins/registry.h"\n',
    "plugins/fit/fit.cc": '#include "framework/plugin.h"\n#include "plugins/common/args.h"\n#include "plugins/fit/fit.h"\n',
    "plugins/registry.cc": '#include "plugins/fit/fit.h"\n',
    "sim/store/store.cc": '#include "cluster/ports.h"\n',
    "scheduler/core/passes/drain.cc": '#include "core/place/exact.h"\n#include "core/passes/drain.h"\n',
    "scheduler/core/scheduler.cc": '#include "core/cycle.h"\n',
}

PLANTED = {
    "a lower room that sees a higher one": ("scheduler/model/pod.h", '#include "cluster/state.h"\n'),
    "sim that sees kube": ("sim/store/store.cc", '  # include "kube/client.h"\n'),
    "kube that sees sim": ("scheduler/kube/client.cc", '#include "sim/store/store.h"\n'),
    "sim that sees the core": ("sim/store/store.cc", '#include "core/scheduler.h"\n'),
    "a plugin that sees the core": ("plugins/fit/fit.cc", '#include "core/scheduler.h"\n'),
    "a plugin that sees another": ("plugins/fit/fit.cc", '#include "plugins/ports/ports.h"\n'),
    "a plugin that sees the registry": ("plugins/fit/fit.cc", '#include "plugins/registry.h"\n'),
    "an include relative to its own folder": ("scheduler/model/pod.h", '#include "quantity.h"\n'),
    "production code that includes a test's": ("scheduler/model/pod.h", '#include "tests/support/catch.h"\n'),
    "a room inside the core that sees a higher one": (
        "scheduler/core/place/exact.h",
        '#include "core/passes/drain.h"\n',
    ),
    "a room inside the core that sees past the next": ("scheduler/core/scheduler.cc", '#include "core/place/exact.h"\n'),
    "a room inside sim that sees a higher one": ("sim/store/store.cc", '#include "sim/nodes/kubelet.h"\n'),
    "a room inside the core that nobody named": ("scheduler/core/misc/things.h", '#include "core/options.h"\n'),
    "a library outside its room": ("scheduler/model/pod.h", "#include <curl/curl.h>\n"),
    "a room that nobody named": ("scheduler/misc/things.h", "#include <string>\n"),
    "JSON of any depth": ("scheduler/kube/client.cc", "auto json = base::Json::parse(body, nullptr, false);\n"),
    "JSON of any depth in sim": ("sim/store/store.cc", "Json parsed = Json::parse(text, nullptr, false);\n"),
    "a printer of JSON that throws": ("sim/store/store.cc", "return value->dump();\n"),
}


def run_on(files):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, HERE / "check.py", root], capture_output=True, text=True)


class LayerCheck(unittest.TestCase):
    def test_a_right_tree_passes(self):
        done = run_on(RIGHT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_planted_edge_is_found(self):
        for what, (name, line) in PLANTED.items():
            with self.subTest(what):
                done = run_on({**RIGHT, name: RIGHT.get(name, "") + line})
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(name, done.stdout)


if __name__ == "__main__":
    unittest.main()
