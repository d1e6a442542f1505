// SPDX-License-Identifier: Apache-2.0
#include "sim/manifest.h"

#include <fmt/format.h>

#include "sim/yaml.h"
#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

Json Scalar(const std::string& text) {
  const auto document = ParseYaml("v: " + text);
  INFO(text);
  REQUIRE(document);
  return document->value["v"];
}

TEST_CASE("scalars are typed as Kubernetes' YAML reader types them") {
  const std::pair<const char*, Json> cases[] = {
      {"1", 1},
      {"010", 8},
      {"0o10", 8},
      {"0x1F", 31},
      {"0b11", 3},
      {"+5", 5},
      {"-5", -5},
      {"1_000", 1000},
      {"1e3", 1000},
      {"1.0", 1},
      {"1.5", 1.5},
      {".5", 0.5},
      {"1e-1", 0.1},
      {"yes", true},
      {"No", false},
      {"on", true},
      {"y", true},
      {"TRUE", true},
      {"nope", "nope"},
      {"~", nullptr},
      {"null", nullptr},
      {"", nullptr},
      {"'1'", "1"},
      {"\"yes\"", "yes"},
      {"!!str 12", "12"},
      {"100m", "100m"},
      {"1Gi", "1Gi"},
      {"2026-01-01", "2026-01-01"},
      {"1.2.3", "1.2.3"},
      {"089", 89},
      {"0", 0},
      {"1e", "1e"},
      {"12e", "12e"},
      {"_1", "_1"},
      {"0_1", 1},
      {"-0x10", -16},
      {"-010", -8},
      {"0o8", "0o8"},
      {"1e400", "1e400"},
      {"12:30", "12:30"},
      {"!!int 5", 5},
      {"|\n  12", "12"},
      {"9223372036854775807", INT64_MAX},
      {"18446744073709551615", UINT64_MAX},
  };
  for (const auto& [text, value] : cases) {
    CHECK(Scalar(text) == value);
  }
}

TEST_CASE("keys are strings, merges merge, the last duplicate counts") {
  CHECK(ParseYaml("1: a\ntrue: b\n")->value == Json({{"1", "a"}, {"true", "b"}}));
  CHECK(ParseYaml("base: &b {p: 1, q: 2}\nd:\n  <<: *b\n  q: 3\n")->value["d"] == Json({{"p", 1}, {"q", 3}}));
  CHECK(ParseYaml("a: 1\na: 2\n")->value == Json({{"a", 2}}));
}

TEST_CASE("what is no YAML is refused with its line") {
  CHECK_THAT(ParseYaml("a: 1\nb: [1, 2\n").error().message, Catch::StartsWith("line 3:"));
  CHECK_THAT(ParseYaml("a: .inf").error().message, Catch::Contains(".inf is no JSON value"));
  CHECK_THAT(ParseYaml("a: b: c").error().message, Catch::StartsWith("line 1:"));
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  }
  CHECK_THAT(ParseYaml(bomb).error().message, Catch::Contains("too large"));
}

TEST_CASE("documents, lists and JSON are taken apart, each with its place") {
  const auto manifests = ParseManifests(
      "# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\n"
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n"
      "- apiVersion: v1\n  kind: PodList\n  items: [{metadata: {name: c}}]\n"
      "--- # last\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"d\"}}\n",
      "f.yaml");
  REQUIRE(manifests);
  REQUIRE(manifests->size() == 4);
  CHECK((*manifests)[0].Where() == "f.yaml: document 1, line 3");
  CHECK((*manifests)[1].Where() == "f.yaml: document 2, line 8");
  CHECK(NameOf((*manifests)[2].object) == "c");
  CHECK(DigString((*manifests)[2].object, "kind") == "Pod");
  CHECK((*manifests)[3].document == 3);
}

TEST_CASE("errors name file, document, line and remedy") {
  CHECK(ParseManifests("apiVersion: v1\nkind: Pod\n---\nmetadata: {name: x}\n", "f.yaml").error().message ==
        "f.yaml: document 2, line 4: kind is missing: say which kind of object this is, such as `kind: Pod`");
  CHECK_THAT(ParseManifests("just text\n", "f.yaml").error().message,
             Catch::Contains("f.yaml: document 1, line 1: a manifest is a map"));
  CHECK_THAT(ParseManifests("a: 1\n---\nb: [\n", "f.yaml").error().message, Catch::StartsWith("f.yaml: document 1"));
  CHECK_THAT(LoadManifests({"/no/such/file.yaml"}).error().message,
             Catch::Contains("/no/such/file.yaml: No such file or directory"));
}

TEST_CASE("manifests are stored with what they need, whatever their order in the file") {
  Cluster c;
  auto manifests = ParseManifests(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ray}\n"
      "spec: {priorityClassName: high, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n"
      "status: {phase: Running}\n"
      "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n"
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n",
      "f.yaml");
  REQUIRE(manifests);
  const auto stored = StoreManifests(c.store, *manifests);
  INFO((stored ? "" : stored.error().message));
  REQUIRE(stored);
  const Object pod = c.store.Find(kPods, "ray", "p");
  REQUIRE(pod);
  CHECK(Dig(*pod, "spec", "priority") == 7);
  CHECK(DigString(*pod, "status", "phase") == "Running");

  const auto refused =
      StoreManifests(c.store, *ParseManifests("apiVersion: v1\nkind: Pod\nmetadata: {name: q}\n", "g"));
  CHECK(refused.error().message == "g: document 1, line 1: Pod \"q\" is invalid: spec.containers: Required value");
}

}  // namespace
}  // namespace tutti::sim
