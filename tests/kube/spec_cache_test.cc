// SPDX-License-Identifier: Apache-2.0
#include "kube/spec_cache.h"

#include <fmt/format.h>

#include <functional>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "kube/decode.h"
#include "kube/wire.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

using base::Json;
using Fill = std::function<void(WireWriter&)>;

constexpr size_t kMiB = size_t{1} << 20;
constexpr int kMany = 50'000;

std::string PodOf(const Fill& spec) {
  std::string message;
  WireWriter w(&message);
  w.Message(1, [](WireWriter& meta) { meta.Text(1, "p"); });
  w.Message(2, [&](WireWriter& s) {
    s.Text(19, "tutti");
    spec(s);
  });
  return message;
}

// Tolerates `key`, and `seconds` more bytes of what decides nothing.
std::string Tolerating(const std::string& key, int seconds) {
  return PodOf([&](WireWriter& s) {
    s.Message(22, [&](WireWriter& t) {
      t.Text(1, key);
      for (int i = 0; i < seconds; ++i) t.Number(5, 1 + i % 100);
    });
  });
}

void Times(int many, WireWriter& w, uint32_t field, const Fill& one) {
  for (int i = 0; i < many; ++i) w.Message(field, one);
}

// Terms, constraints and claims without end.
std::string Endless() {
  const Fill nothing = [](WireWriter&) {};
  return PodOf([&](WireWriter& s) {
    Times(kMany, s, 1, [](WireWriter& v) {
      v.Text(1, "v");
      v.Message(2, [](WireWriter& of) { of.Message(10, [](WireWriter& claim) { claim.Text(1, "c"); }); });
    });
    s.Message(18, [&](WireWriter& affinity) {
      affinity.Message(1, [&](WireWriter& node) {
        node.Message(1, [&](WireWriter& required) { Times(kMany, required, 1, nothing); });
        Times(kMany, node, 2, nothing);
      });
      for (const uint32_t field : {2, 3})
        affinity.Message(field, [&](WireWriter& pods) {
          Times(kMany, pods, 1, nothing);
          Times(kMany, pods, 2, nothing);
        });
    });
    s.Message(2, [](WireWriter& container) {
      for (int i = kMany; i > 0; --i) container.Message(6, [&](WireWriter& port) { port.Number(2, i); });
    });
    s.Message(20, [](WireWriter& sidecar) {
      sidecar.Text(24, "Always");
      sidecar.Message(6, [](WireWriter& port) { port.Number(2, 10); });
    });
    Times(kMany, s, 33, [](WireWriter& spread) { spread.Number(1, 1); });
  });
}

Json EndlessJson() {
  const Json many = Json::array_t(kMany, Json::object());
  const Json pods = {{"requiredDuringSchedulingIgnoredDuringExecution", many},
                     {"preferredDuringSchedulingIgnoredDuringExecution", many}};
  const Json nodes = {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", many}}},
                      {"preferredDuringSchedulingIgnoredDuringExecution", many}};
  const Json claim = {{"name", "v"}, {"persistentVolumeClaim", {{"claimName", "c"}}}};
  Json ports = Json::array();
  for (int i = kMany; i > 0; --i) ports.push_back({{"hostPort", i}});
  return {{"metadata", {{"name", "p"}}},
          {"spec",
           {{"schedulerName", "tutti"},
            {"containers", {{{"ports", std::move(ports)}}}},
            {"initContainers", {{{"restartPolicy", "Always"}, {"ports", {{{"hostPort", 10}}}}}}},
            {"volumes", Json::array_t(kMany, claim)},
            {"affinity", {{"nodeAffinity", nodes}, {"podAffinity", pods}, {"podAntiAffinity", pods}}},
            {"topologySpreadConstraints", Json::array_t(kMany, Json{{"maxSkew", 1}})}}}};
}

TEST_CASE("of specs that no pod has any more nothing is left") {
  SpecCache specs;
  const auto kept = DecodePod(Tolerating("kept", 0), &specs);
  std::weak_ptr<const model::PodSpec> gone = DecodePod(Tolerating("gone", 0), &specs)->spec;
  CHECK(gone.expired());
  for (int i = 0; i < 20'000; ++i) DecodePod(Tolerating(fmt::format("small-{}", i), 0), &specs);
  CHECK(specs.bytes() < 5 * kMiB);
  for (int i = 0; i < 40; ++i) DecodePod(Tolerating(fmt::format("large-{}", i), 500'000), &specs);
  CHECK(specs.bytes() < 6 * kMiB);
  CHECK(DecodePod(Tolerating("kept", 0), &specs)->spec == kept->spec);
}

TEST_CASE("specs that are no pod's any more are forgotten also where they come without a key") {
  SpecCache specs;
  model::PodSpec spec;
  for (spec.priority = 0; spec.priority < 20'000; ++spec.priority) specs.Intern(spec);
  CHECK(specs.bytes() < 5 * kMiB);
}

TEST_CASE("a spec that a pod has is found by one key, however many others mean it") {
  SpecCache specs;
  const auto kept = DecodePod(Tolerating("k", 10), &specs);
  for (int i = 0; i < 40; ++i) CHECK(DecodePod(Tolerating("k", 500'000 + i), &specs)->spec == kept->spec);
  CHECK(specs.bytes() < 6 * kMiB);
  for (int i = 0; i < 20'000; ++i) DecodePod(Tolerating(fmt::format("other-{}", i), 0), &specs);
  CHECK(specs.bytes() < 5 * kMiB);
  CHECK(DecodePod(Tolerating("k", 10), &specs)->spec == kept->spec);
}

TEST_CASE("of lists without end the beginning is read, from protobuf as from JSON") {
  SpecCache specs;
  const auto wire = DecodePod(Endless(), &specs);
  const auto json = cluster::DecodePod(EndlessJson());
  REQUIRE(json);
  CHECK(*wire->spec == *json->spec);
  CHECK(wire->claims == json->claims);
  CHECK(wire->claims.size() < 300);
  const model::PodSpec& spec = *wire->spec;
  for (const size_t read :
       {spec.required_node_affinity->terms.size(), spec.preferred_node_affinity.size(),
        spec.pod_affinity.required.size(), spec.pod_affinity.preferred.size(), spec.pod_anti_affinity.required.size(),
        spec.pod_anti_affinity.preferred.size(), spec.spread.size(), spec.volumes.size(), spec.host_ports.size()})
    CHECK((read > 256 && read < 300));
}

}  // namespace
}  // namespace tutti::kube
