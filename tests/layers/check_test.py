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
    "scheduler/core/scheduler.cc": '#include "core/cycle.h"  // See core/gangs/gang.h, passes/drain.cc.\n',
    "scheduler/core/gangs/gang.h": "struct Member;\nstruct Gang {\n};\n",
    "scheduler/core/gangs/census.h": "struct Member {\n};\nstruct Gang;\n",
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
    "a type of a higher room inside the core": ("scheduler/core/options.h", "struct Gang;\n"),
    "a library outside its room": ("scheduler/model/pod.h", "#include <curl/curl.h>\n"),
    "a room that nobody named": ("scheduler/misc/things.h", "#include <string>\n"),
    "JSON of any depth": ("scheduler/kube/client.cc", "auto json = base::Json::parse(body, nullptr, false);\n"),
    "JSON of any depth in sim": ("sim/store/store.cc", "Json parsed = Json::parse(text, nullptr, false);\n"),
    "a printer of JSON that throws": ("sim/store/store.cc", "return value->dump();\n"),
    "a second writer of why a gang waits": ("scheduler/core/passes/drain.cc", "  gang.refusal = ExplainUndoing(gang);\n"),
    "one who ends why a gang waits": ("scheduler/core/passes/drain.cc", "  book_.at(id).refusal.reset();\n"),
    "a comment that names no file": ("sim/store/store.cc", "int a;  // See objects/object.h.\n"),
    "one who edits why a gang waits": ("scheduler/core/passes/drain.cc", "  gang.refusal->wakes = wakes;\n"),
}


LONG = "".join(f"  Do({i});\n" for i in range(61))

PLANTED_LENGTHS = {
    "a file that is too long": ("sim/store/store.h", "// A line.\n" * 601),
    "a function that is too long": ("sim/store/store.cc", "void Do() {\n" + LONG + "}\n"),
    "a method that is too long": ("sim/store/store.h", "class A {\n  void Do(int a,\n          int b) const {\n" + LONG + "  }\n};\n"),
}

PLANTED_WORDS = {
    "a private word": ("sim/store/store.cc", "// The pod goes in vain.\n"),
    "a pod that is a person": ("sim/store/store.cc", "// Tells who waits.\n"),
    "pods that are people": ("sim/store/store.cc", "// Takes all who wait.\n"),
    "a private word in a name": ("sim/store/store.h", "int tried_in_vain_ = 0;\n"),
    "a test's private word": ("tests/core/gang_test.cc", 'TEST_CASE("nobody starts") {}\n'),
    "a private word of a scenario": ("tests/scenarios/gangs/order.yaml", "name: a gang waits for ever\n"),
    "a private word of a program": ("tests/chaos/run", "#!/usr/bin/env python3\n# Starts it anew.\n"),
}


def run_on(files, script="check.py"):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, HERE / script, root], capture_output=True, text=True)


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

    def test_a_source_that_is_too_long_is_found(self):
        self.check_planted("lengths.py", PLANTED_LENGTHS)

    def test_a_word_of_the_list_is_found(self):
        self.check_planted("words.py", PLANTED_WORDS)

    def check_planted(self, script, planted):
        done = run_on(RIGHT, script)
        self.assertEqual(done.returncode, 0, done.stdout)
        for what, (name, text) in planted.items():
            with self.subTest(what):
                done = run_on({**RIGHT, name: text}, script)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(name, done.stdout)


if __name__ == "__main__":
    unittest.main()
