// SPDX-License-Identifier: Apache-2.0
#include "app/volcano_conf.h"

#include <yaml-cpp/yaml.h>

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

VolcanoConf Read(const std::string& text) {
  auto conf = ReadVolcanoConf(YAML::Load(text), "v.conf");
  if (!conf) FAIL(conf.error().message);
  return *std::move(conf);
}

using Kind = core::QueueRule::Kind;

std::string ErrorOf(const std::string& text) {
  const auto conf = ReadVolcanoConf(YAML::Load(text), "v.conf");
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
  CHECK(conf.rule.kind == Kind::kProportion);
  CHECK(conf.notes == std::vector<std::string>{
                          "v.conf:6: tiers[0].plugins[1].enablePreemptable: has no effect: it cannot be switched",
                          "v.conf:9: tiers[1].plugins[0].name: overcommit has no effect",
                          "v.conf:12: tiers[1].plugins[3].name: binpack has no effect: nodes are scored as a "
                          "KubeSchedulerConfiguration says",
                      });
}

TEST_CASE("the action reclaim takes nothing back where no plugin says what queues deserve, and that is said") {
  const VolcanoConf conf = Read("actions: \"allocate, reclaim\"\ntiers: [{plugins: [{name: gang}]}]\n");
  CHECK_FALSE(conf.rule.reclaim);
  CHECK(conf.notes ==
        std::vector<std::string>{"v.conf:1: actions: reclaim has no effect without the plugin proportion or capacity"});
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
  CHECK(conf.rule.kind == Kind::kCapacity);
  CHECK(conf.rule.ancestor_levels == 2);
  CHECK(conf.rule.reclaim);
  CHECK(conf.preempts);
  CHECK(conf.notes.empty());
  CHECK(Read("actions: \"gangpreempt\"").preempts);
  CHECK_FALSE(Read("actions: \"gangpreempt\"").rule.reclaim);
  const VolcanoConf gangs = Read("actions: \"gangreclaim\"\ntiers: [{plugins: [{name: proportion}]}]\n");
  CHECK(gangs.rule.reclaim);
  CHECK_FALSE(gangs.preempts);
  CHECK(Read("tiers: [{plugins: [{name: capacity, enableHierarchy: true, arguments: {ancestorReclaimLevel: 1}}]}]\n")
            .notes == std::vector<std::string>{"v.conf:1: tiers[0].plugins[0].arguments.ancestorReclaimLevel: has no "
                                               "effect without the action reclaim"});
  const VolcanoConf empty = Read("");
  CHECK(empty.rule.kind == Kind::kCapability);
  CHECK(empty.notes.empty());
}

TEST_CASE("capacity without enableHierarchy has parents that count, and that is said last") {
  const VolcanoConf conf = Read(R"(tiers:
- plugins:
  - name: capacity
    enableHierarchy: false
    arguments: {ancestorReclaimLevel: 0}
configurations: []
)");
  CHECK(conf.notes == std::vector<std::string>{
                          "v.conf:6: configurations: has no effect",
                          "v.conf: capacity: a queue's parents count, though enableHierarchy is not set",
                      });
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
  CHECK(conf.rule.kind == Kind::kProportion);
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
  CHECK(ErrorOf("- a\n") == "v.conf:1: is a sequence; a mapping is expected here");
}

}  // namespace
}  // namespace tutti::app
