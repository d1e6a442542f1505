// SPDX-License-Identifier: Apache-2.0
// The short way to read YAML says what the general reader says, or nothing.
#include "sim/objects/yaml_simple.h"

#include "base/random.h"
#include "sim/objects/yaml.h"
#include "tests/support/catch.h"

namespace tutti::sim {
namespace {

constexpr const char* kManifests[] = {
    R"(
# a comment
apiVersion: v1
kind: Pod
metadata:
  name: gang-00001-0
  annotations: {sim.tutti.dev/run-for: 600s, b: "x: y", c: 'it # is'}
  labels:
    ray.io/cluster: a
    empty:
spec:
  schedulerName: tutti
  priority: -10
  containers:
  - name: worker
    image: registry.example.com:5000/worker:1.2
    command: [sh, -c, "sleep 1"]
    args:
      - --flag
      - a b c
    resources:
      requests: {cpu: "4", memory: 16Gi, nvidia.com/gpu: 1, half: 0.5}
  -   name: other
      ports: [{containerPort: 8080}, {containerPort: 0x10}]
  tolerations: []
  nodeSelector: {}
)",
    R"(kind: List
items:
- - a
  - b
- key:
    - 1e3
    - 010
    - yes
    - 2026-01-01T00:00:00Z
    - 12:30
- plain
)"};

void CheckSame(const std::string& text) {
  const auto simple = ReadSimpleYaml(text);
  if (!simple) return;
  INFO(text);
  const auto any = ParseAnyYaml(text);
  REQUIRE(any);
  CHECK(any->duplicate.empty());
  CHECK(any->value == simple->value);
  CHECK(any->line == simple->line + 1);
}

TEST_CASE("manifests as people write them are read the short way, and as the general reader does") {
  for (const char* text : {"a: 1\nb: {c: d, e: [f, 'g']}\nh:\n- i: j\n  k: l\n-  m\n", "\n\n  # c\n  a: b c\n  d:\n",
                           "kind: Node\nstatus:\n  allocatable: {cpu: \"96\", memory: 1024Gi}\n"}) {
    CHECK(ReadSimpleYaml(text));
    CheckSame(text);
  }
  for (const char* text : kManifests) {
    CHECK(ReadSimpleYaml(text));
    CheckSame(text);
  }
  CHECK(ReadSimpleYaml("a: 5s\n")->value == Json{{"a", "5s"}});
}

TEST_CASE("what the same lines say below a key is read once, and shared") {
  YamlBlocks blocks;
  const std::string spec = "spec:\n  containers:\n  - name: a\n\n  # c\n    image: b\n";
  const auto a = ReadSimpleYaml("kind: Pod\nmetadata:\n  name: a\n" + spec, &blocks);
  const auto b = ReadSimpleYaml("kind: Pod\nmetadata: {name: b}\n" + spec + "status:\n  phase: x\n", &blocks);
  REQUIRE((a && b));
  CHECK(base::IsShared(Child(a->value, "spec"), Child(b->value, "spec")));
  CHECK(a->value == Json::parse(R"({"kind":"Pod","metadata":{"name":"a"},
    "spec":{"containers":[{"name":"a","image":"b"}]}})"));
  CHECK(Dig(b->value, "status", "phase") == "x");
  // To write to one of them leaves the others as they are.
  Json changed = a->value;
  changed["spec"]["containers"][0]["image"] = "c";
  CHECK(Dig(b->value, "spec", "containers")[0]["image"] == "b");
  CHECK(Dig(ReadSimpleYaml(spec, &blocks)->value, "spec", "containers")[0]["image"] == "b");
}

TEST_CASE("lines that are no block below their key, or not all of it, are read again") {
  YamlBlocks blocks;
  for (const char* text :
       {"a:\n\n- b\n", "a:\n\n", "a:\n\nb: 1\n", "a:\n  b: 1\nc: 2\n", "a:\n  b: 1\n\n  d: 2\n", "a:\n  b: 1\n d: 2\n",
        "a:\n  b: 1", "a:\n  b: 12\n", "a:\n  b: 1\n", "d:\n  a:\n    b: 1\n", " a:\n   b: 1\n",
        "a:\n  b: \xc3\xa4\n", "a:\n  b: 1\n  c: \xc3\xa4\n", "a:\n  b: 1\n  # \xc3\xa4\n  c: 2\n",
        "a:\n  b: 1\n  c:\td\n"}) {
    INFO(text);
    const auto alone = ReadSimpleYaml(text);
    for (int time = 0; time < 2; ++time) {
      const auto known = ReadSimpleYaml(text, &blocks);
      REQUIRE(bool(known) == bool(alone));
      if (alone) CHECK(known->value == alone->value);
    }
  }
}

TEST_CASE("what is more than that, or wrong, is left to the general reader") {
  for (const char* text : {"",
                           "a",
                           "a: b: c",
                           "a: |\n  text\n",
                           "a: b\n  c\n",
                           "a: &x b\n",
                           "a: *x\n",
                           "a: !!str b\n",
                           "a: b # c\n",
                           "a: \"b\\n\"\n",
                           "a: 'b''c'\n",
                           "a: 1\na: 2\n",
                           "a: {b: 1, b: 2}\n",
                           "a:\n  b: 1\n c: 2\n",
                           "a: b\n- c\n",
                           "a: [b\n",
                           "a:\tb\n",
                           "a: b\r\n",
                           "? a\n",
                           "<<: a\n",
                           "yes: a\n",
                           "1: a\n",
                           "a: \xc3\xa4\n",
                           "a: .inf\n"}) {
    INFO(text);
    CHECK_FALSE(ReadSimpleYaml(text));
  }
}

TEST_CASE("whatever the two ways can both read, they read alike") {
  constexpr std::string_view kMarks = " \n-:{}[],\"'#&*!|a1./";
  base::Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kManifests[random.Below(std::size(kManifests))];
    for (uint64_t edits = random.Below(4); edits > 0; --edits) {
      const size_t at = random.Below(text.size());
      if (random.Below(3) == 0)
        text.erase(at, 1 + random.Below(3));
      else
        text.insert(at, 1, kMarks[random.Below(kMarks.size())]);
    }
    CheckSame(text);
  }
}

}  // namespace
}  // namespace tutti::sim
