// SPDX-License-Identifier: Apache-2.0
#include "model/fields.h"

#include <functional>

#include "model/field_counts.h"
#include "model/footprint.h"
#include "tests/support/catch.h"

namespace tutti::model {
namespace {

struct Pair {
  int first = 0;
  std::string second;
};

// Of each member another value than it has in an empty spec.
const std::vector<std::function<void(PodSpec*)>> kChanges = {
    [](PodSpec* s) { s->scheduler_name = "x"; },
    [](PodSpec* s) { s->priority = 1; },
    [](PodSpec* s) { s->never_preempts = true; },
    [](PodSpec* s) { s->requests.Set("cpu", 1); },
    [](PodSpec* s) { s->nonzero_cpu = 1; },
    [](PodSpec* s) { s->nonzero_memory = 1; },
    [](PodSpec* s) { s->saturated = true; },
    [](PodSpec* s) { s->node_name = "x"; },
    [](PodSpec* s) { s->node_selector = {{"k", "v"}}; },
    [](PodSpec* s) { s->required_node_affinity.emplace(); },
    [](PodSpec* s) { s->preferred_node_affinity.emplace_back().weight = 1; },
    [](PodSpec* s) { s->tolerations.emplace_back(); },
    [](PodSpec* s) { s->host_ports.emplace_back(); },
    [](PodSpec* s) { s->pod_affinity.required.emplace_back(); },
    [](PodSpec* s) { s->pod_anti_affinity.preferred.emplace_back(); },
    [](PodSpec* s) { s->spread.emplace_back().min_domains = 0; },
    [](PodSpec* s) { s->images = {"x"}; },
    [](PodSpec* s) { s->container_count = 1; },
    [](PodSpec* s) { s->has_claims = true; },
    [](PodSpec* s) { s->volumes.emplace_back().csi.handle = "x"; },
};

}  // namespace

template <>
inline constexpr size_t kFieldCount<Pair> = 2;

namespace {

TEST_CASE("Every member of a spec is in its hash") {
  REQUIRE(kChanges.size() == kFieldCount<PodSpec>);
  const PodSpec empty;
  for (size_t i = 0; i < kChanges.size(); ++i) {
    PodSpec changed;
    kChanges[i](&changed);
    INFO("member " << i);
    CHECK_FALSE(changed == empty);
    CHECK_FALSE(SameBut(changed, empty));
    CHECK(Hash(changed) != Hash(empty));
    CHECK(Footprint(changed) >= Footprint(empty));
  }
}

TEST_CASE("Texts and lists that differ in where they end have other hashes") {
  PodSpec a, b;
  a.images = {"ab", "c"};
  b.images = {"a", "bc"};
  CHECK(Hash(a) != Hash(b));
  a.images = {}, b.images = {};
  a.tolerations.emplace_back().key = "k";
  b.tolerations.emplace_back().value = "k";
  CHECK(Hash(a) != Hash(b));
}

TEST_CASE("What is left out of a comparison may differ, and nothing else") {
  CHECK(SameBut(Pair{1, "a"}, Pair{1, "a"}));
  CHECK_FALSE(SameBut(Pair{1, "a"}, Pair{2, "a"}));
  CHECK(SameBut(Pair{1, "a"}, Pair{2, "a"}, &Pair::first));
  CHECK_FALSE(SameBut(Pair{1, "a"}, Pair{2, "b"}, &Pair::first));
  CHECK(SameBut(Pair{1, "a"}, Pair{2, "b"}, &Pair::first, &Pair::second));
}

TEST_CASE("Of two pods with specs of their own the specs are compared") {
  Pod a, b;
  a.spec = std::make_shared<const PodSpec>();
  b.spec = std::make_shared<const PodSpec>();
  CHECK(SameBut(a, b));
  PodSpec other;
  other.priority = 7;
  b.spec = std::make_shared<const PodSpec>(other);
  CHECK_FALSE(SameBut(a, b));
  b.spec = a.spec;
  b.meta.resource_version = "2";
  CHECK_FALSE(SameBut(a, b));
  CHECK(SameBut(a, b, &Pod::meta));
}

TEST_CASE("What a spec's texts and lists hold counts, however deep") {
  PodSpec flat, deep;
  flat.node_name = std::string(100, 'x');
  CHECK(Footprint(flat) == sizeof(PodSpec) + 100);
  deep.pod_affinity.required.emplace_back().selector.emplace().match_labels = {{std::string(50, 'k'), "v"}};
  CHECK(Footprint(deep) == sizeof(PodSpec) + sizeof(PodAffinityTerm) + sizeof(StringMap::value_type) + 51);
}

}  // namespace
}  // namespace tutti::model
