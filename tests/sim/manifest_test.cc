// SPDX-License-Identifier: Apache-2.0
#include "sim/manifests/manifest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "sim/objects/yaml.h"
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

TEST_CASE("keys are strings, merges merge, the last duplicate counts and is told") {
  CHECK(ParseYaml("1: a\ntrue: b\n")->value == Json({{"1", "a"}, {"true", "b"}}));
  CHECK(ParseYaml("base: &b {p: 1, q: 2}\nd:\n  <<: *b\n  q: 3\n")->value["d"] == Json({{"p", 1}, {"q", 3}}));
  CHECK(ParseYaml("a: 1\na: 2\n")->value == Json({{"a", 2}}));
  CHECK(ParseYaml("a: 1\nb: {c: 1}\na: 2\n", 5)->duplicate == "line 7: the key \"a\" is there twice; remove one");
  CHECK(ParseYaml("base: &b {p: 1, q: 2}\nd:\n  <<: *b\n  q: 3\n")->duplicate.empty());
  CHECK(ParseYaml("d: [&b {p: 1}, *b, {<<: [*b, {q: 2}]}]")->value["d"] ==
        Json::array({{{"p", 1}}, {{"p", 1}}, {{"p", 1}, {"q", 2}}}));
  CHECK(ParseYaml("a: !!str\n? b\n: !!str 1\n")->value == Json({{"a", ""}, {"b", "1"}}));
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
  CHECK_THAT(ParseYaml("a: &b {z: *b}").error().message, Catch::Contains("an alias within what it stands for"));
  CHECK_THAT(ParseYaml(std::string(300, '[') + std::string(300, ']')).error().message,
             Catch::Contains("nested too deeply"));
  CHECK_THAT(ParseYaml("? [a]\n: 1\n").error().message, Catch::Contains("a key must be a scalar"));
}

TEST_CASE("no part of a file is passed over") {
  const std::string node = "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"}\\\"{\"}}";
  const std::string pod = "{\"apiVersion\": \"v1\",\n\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}}";
  const auto manifests = ParseManifests(node + pod + "\n" + node + "\n# the end\n", "f.json");
  INFO((manifests ? "" : manifests.error().message));
  REQUIRE(manifests);
  REQUIRE(manifests->size() == 3);
  CHECK((*manifests)[1].Where() == "f.json: document 2, line 1");
  CHECK((*manifests)[2].Where() == "f.json: document 3, line 3");
  CHECK(NameOf((*manifests)[2].object) == "}\"{");

  const std::string yaml = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n";
  CHECK(ParseManifests(yaml + "...\n# the end\n", "f.yaml")->size() == 1);
  const auto refusal = [](const std::string& text) {
    const auto parsed = ParseManifests(text, "f");
    return parsed ? "accepted" : parsed.error().message;
  };
  CHECK(refusal(yaml + "...\n" + yaml) ==
        "f: document 1, line 5: there is more after the end of the document; write --- before it");
  CHECK_THAT(refusal(node + "\nand more"), Catch::Equals("f: document 2, line 2: there is more after the JSON object; "
                                                         "write --- before it"));
  CHECK_THAT(refusal(node + ", " + pod), Catch::StartsWith("f: document 2, line 1:"));
  CHECK_THAT(refusal(", x"), Catch::StartsWith("f: document 1, line 1:"));
  CHECK_THAT(refusal("{a: 1} b"), Catch::StartsWith("f: document 1, line 1:"));
}

TEST_CASE("a key that is there twice is refused, in YAML and in JSON") {
  CHECK(ParseManifests("apiVersion: v1\nkind: Pod\nspec:\n  containers: []\n  containers: []\n", "f").error().message ==
        "f: document 1, line 5: the key \"containers\" is there twice; remove one");
  CHECK(ParseManifests("{\"kind\": \"Pod\", \"spec\": {\"a\": [{\"b\": 1}, {\"b\": 1}], \"a\": 2}}", "f")
            .error()
            .message == "f: document 1, line 1: the key \"a\" is there twice; remove one");
}

TEST_CASE("what is not UTF-8 is refused with its line and field") {
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xe4\xbd", "\xf5\x80\x80\x80", "\x80"}) {
    const std::string byte = fmt::format("{:#04x}", static_cast<unsigned char>(bad[0]));
    CHECK(ParseManifests("kind: Pod\nname: \"" + std::string(bad) + "\"\n", "f").error().message ==
          "f: document 1, line 2: the byte " + byte + " after `name: \"` is not UTF-8; save the text as UTF-8");
  }
  CHECK_THAT(ParseManifests("{\"kind\": \"Pod\",\n \"a\": \"\xff\"}\n", "f").error().message,
             Catch::StartsWith("f: document 1, line 2: the byte 0xff after `\"a\": \"` is not UTF-8"));
  CHECK_THAT(ParseManifests("kind: Pod\napiVersion: v1\n---\n# caf\xe9\n", "f").error().message,
             Catch::StartsWith("f: document 2, line 4: the byte 0xe9 after `# caf` is not UTF-8"));
  const std::string good = "apiVersion: v1\nkind: Pod\nmetadata: {name: \"\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80\"}\n";
  CHECK(ParseManifests(good, "f").has_value());
}

TEST_CASE("a text that YAML refuses is told in words that say what to mend") {
  const auto refusal = [](const std::string& text) {
    const auto parsed = ParseManifests(text, "f");
    return parsed ? "accepted" : parsed.error().message;
  };
  const std::string head = "apiVersion: v1\nkind: Pod\nmetadata:\n";
  CHECK(refusal(head + "  name: {{ .Release.Name }}\n") ==
        "f: document 1, line 4: this is a Helm template ({{ ... }}): helm template CHART | tutti ... -");
  CHECK_THAT(refusal("---\n{{- if .Values.on }}\n" + head + "{{- end }}\n"),
             Catch::StartsWith("f: document 1, line 2: this is a Helm template"));
  CHECK(refusal(head + "\tname: a\n") == "f: document 1, line 4 begins with a tab; YAML wants spaces");
  CHECK(refusal(head + "  name: a\n  labels:\n\t  b: c\n") ==
        "f: document 1, line 6 begins with a tab; YAML wants spaces");
  CHECK(refusal(head + "  name: a\nspec:\n  containers:\n  - name: c\n    image: i\n   resources: {}\n") ==
        "f: document 1, line 9: indented by 3; the lines above are indented by 4 and by 2");
  // In a block of text, or in quotes, all of it is text.
  CHECK(refusal(head + "  name: a\n  annotations:\n    a: |\n      x:\n      \t{{ y }}\n    b: '{{ z }}'\n") ==
        "accepted");
  CHECK_THAT(refusal(head + "  annotations: {b: '{{ z }}'\n"), !Catch::Contains("Helm"));
}

TEST_CASE("a folder that is named like a manifest is none, and cannot be read as one") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("manifests-{}", getpid());
  std::filesystem::create_directories(folder / "x.yaml");
  CHECK_THAT(LoadManifests({folder.string()}).error().message, Catch::Contains("no *.yaml, *.yml or *.json"));
  CHECK_THAT(base::ReadFile(folder.string()).error().message, Catch::EndsWith(": Is a directory"));
  std::filesystem::remove_all(folder);
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
  CHECK((*manifests)[1].Where() == "f.yaml: document 2, line 8, items[0] (Pod b)");
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
  const auto twice = StoreManifests(
      c.store, *ParseManifests("apiVersion: v1\nkind: Pod\nmetadata: {name: r}\nspec: {containers: []}\n", "g"));
  CHECK(twice.error().message == "g:4: Pod \"r\" is invalid: spec.containers: Required value");
}

TEST_CASE("a quote that does not end, and a line that is too deep, are told by their lines") {
  const auto refusal = [](const std::string& text) { return ParseManifests(text, "f").error().message; };
  const std::string head = "apiVersion: v1\nkind: Pod\nmetadata:\n";
  CHECK(refusal(head + "  name: \"a\n  labels: {}\n") ==
        "f: document 1, line 4: unexpected end of stream: the quote that begins here does not end");
  CHECK(refusal(head + "  name: 'it''s\n") ==
        "f: document 1, line 4: unexpected end of stream: the quote that begins here does not end");
  CHECK(ParseManifests(head + "  name: 'it''s'\n", "f"));
  CHECK(ParseManifests(head + "  name: \"a \\\" b\"\n", "f"));
  CHECK(refusal(head + "  annotations:\n    a: b\n     c: d\n") ==
        "f: document 1, line 6: indented by 5, deeper than `a: b` above, which has its value already");
}

TEST_CASE("a field that the kind does not have is refused, with the place of its manifest") {
  Cluster c;
  const auto refusal = [&](const std::string& text) {
    const auto stored = StoreManifests(c.store, *ParseManifests(text, "f"));
    return stored ? "stored" : stored.error().message;
  };
  CHECK(refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                "spec: {nodeSelectorr: {a: b}, containers: [{name: c, image: i, resources: {request: {cpu: 1}}}]}\n") ==
        "f: document 1, line 1: Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
        "\"spec.containers[0].resources.request\" (line 4; did you mean requests?), unknown field "
        "\"spec.nodeSelectorr\" (line 4; did you mean nodeSelector?)");
  const std::string definition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
)";
  CHECK(refusal(definition) == "stored");
  CHECK(refusal("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {size: 1}\n") == "stored");
  CHECK_THAT(refusal("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: u}\nspec: {sise: 1}\n"),
             Catch::Contains("f: document 1, line 1:") && Catch::Contains("unknown field \"spec.sise\""));
}

}  // namespace
}  // namespace tutti::sim
