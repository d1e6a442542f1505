// SPDX-License-Identifier: Apache-2.0
#include "app/volcano_conf.h"

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

VolcanoConf Read(const std::string& text) {
  auto conf = ReadVolcanoConf(text, "v.conf");
  if (!conf) FAIL(conf.error().message);
  return *std::move(conf);
}

std::string ErrorOf(const std::string& text) {
  const auto conf = ReadVolcanoConf(text, "v.conf");
  return conf ? "" : conf.error().message;
}

TEST_CASE("the volcano-scheduler.conf of an installation is read, and what has no effect is said") {
  const VolcanoConf conf = Read(R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: predicates
  - name: proportion
  - name: binpack
    arguments:
      binpack.weight: 10
)");
  CHECK(conf.actions == std::vector<std::string>{"enqueue", "allocate", "backfill"});
  CHECK(conf.rule == ShareRule::kProportion);
  CHECK_FALSE(conf.reclaims);
  CHECK_FALSE(conf.preempts);
  REQUIRE(conf.tiers.size() == 2);
  CHECK(conf.tiers[0][1].switches == std::map<std::string, bool>{{"enablePreemptable", false}});
  CHECK(conf.tiers[1][3].arguments.at("binpack.weight") == "10");
  CHECK(conf.notes == std::vector<std::string>{
                          "v.conf:6: tiers[0].plugins[1].enablePreemptable: has no effect: it cannot be switched",
                          "v.conf:9: tiers[1].plugins[0].name: overcommit has no effect",
                          "v.conf:12: tiers[1].plugins[3].name: binpack has no effect: nodes are scored as a "
                          "KubeSchedulerConfiguration says",
                      });
}

TEST_CASE("capacity with its hierarchy, and the actions that take from others") {
  const VolcanoConf conf = Read(R"(actions: "allocate,preempt ,reclaim"
tiers:
- plugins:
  - name: capacity
    enableHierarchy: true
    arguments:
      ancestorReclaimLevel: 2
)");
  CHECK(conf.rule == ShareRule::kCapacity);
  CHECK(conf.hierarchy);
  CHECK(conf.ancestor_level == 2);
  CHECK(conf.reclaims);
  CHECK(conf.preempts);
  CHECK(conf.notes.empty());
  const VolcanoConf empty = Read("");
  CHECK(empty.rule == ShareRule::kNone);
  CHECK(empty.actions.empty());
}

TEST_CASE("what Volcano passes over is passed over, and said with its line") {
  const VolcanoConf conf = Read(R"(actions: shuffle
tiers:
- plugins:
  - name: proporton
  - name: proportion
    enableFoo: true
    arguments: {x: 1}
configurations:
- name: enqueue
)");
  CHECK(conf.rule == ShareRule::kProportion);
  REQUIRE(conf.notes.size() == 5);
  CHECK(conf.notes[0] == "v.conf:1: actions: shuffle has no effect");
  CHECK(conf.notes[1] ==
        "v.conf:4: tiers[0].plugins[0].name: proporton has no effect: it is not known; did you mean proportion?");
  CHECK(conf.notes[2].starts_with("v.conf:6: tiers[0].plugins[1].enableFoo: unknown field"));
  CHECK(conf.notes[3] == "v.conf:7: tiers[0].plugins[1].arguments.x: has no effect");
  CHECK(conf.notes[4] == "v.conf:9: configurations: has no effect");
}

TEST_CASE("an error names the line and the key") {
  CHECK(ErrorOf("actions: \"enqueue, alocate\"") ==
        "v.conf:1: actions: \"alocate\" is no action; did you mean allocate?");
  CHECK(ErrorOf("tiers:\n- plugins:\n  - name: capacity\n    enableHierarchy: maybe\n") ==
        "v.conf:4: tiers[0].plugins[0].enableHierarchy: \"maybe\": write true or false");
  CHECK(ErrorOf("tiers:\n- plugins:\n  - name: capacity\n    arguments: {ancestorReclaimLevel: -1}\n") ==
        "v.conf:4: tiers[0].plugins[0].arguments.ancestorReclaimLevel: \"-1\": write a whole number from 0 to 100");
  CHECK(ErrorOf("tiers:\n- plugins:\n  - name: capacity\n  - name: proportion\n") ==
        "v.conf:4: tiers[0].plugins[1].name: proportion and capacity both say what a queue deserves; keep one");
  CHECK(ErrorOf("tiers:\n- plugins:\n  - enableJobOrder: true\n") ==
        "v.conf:3: tiers[0].plugins[0]: has no name; name a plugin");
  CHECK(ErrorOf("tiers: 5") == "v.conf:1: tiers: is a scalar; a sequence (- ...) is expected");
  CHECK(ErrorOf("[1, 2") != "");
  CHECK(ErrorOf("- a\n") == "v.conf:1: is a sequence; a mapping is expected here");
}

}  // namespace
}  // namespace tutti::app
