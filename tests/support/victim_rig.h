// SPDX-License-Identifier: Apache-2.0
// VictimRig: a cluster with pods at work, gangs among them, and the search for victims on it. It has no cycle and no
// API server.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/place/victim_search.h"
#include "plugins/registry.h"
#include "tests/support/rights_by_priority.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {

// Reads a gang from its pods' labels. "gang" is its name, and "min" its least number of members. "role" is a pod's
// role, of which "role-min" members are needed; the role "head" is the head. "unit" is a pod's unit, of "unit-size"
// members, and "unit-min" units must be whole. A pod without "gang" is a lone pod.
class GangLabels : public dialects::Dialect {
 public:
  std::string_view name() const override { return "labels"; }
  void Put(std::shared_ptr<const model::Object>, dialects::Touched*) override {}
  void Drop(std::string_view, std::string_view, std::string_view, dialects::Touched*) override {}
  model::GangSpec Describe(const model::GangKey& key) const override {
    model::GangSpec spec;
    spec.key = key;
    return spec;
  }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    const auto label = [&pod](const char* key) {
      const std::string* value = model::Find(*pod.meta.labels, key);
      return value ? *value : std::string();
    };
    const auto number = [&](const char* key) { return label(key).empty() ? 0 : std::stoll(label(key)); };
    dialects::Membership membership;
    membership.lone = label("gang").empty();
    membership.gang = {"labels", pod.meta.ns, membership.lone ? pod.meta.name : label("gang")};
    membership.role = label("role");
    membership.head = membership.role == "head";
    model::GangSpec spec = Describe(membership.gang);
    if (!membership.lone) spec.min_member = std::max<int64_t>(number("min"), 1);
    if (number("role-min") > 0) spec.roles.push_back({membership.role, number("role-min"), 1, {}});
    if (number("unit-size") > 0) {
      spec.units.push_back({"units", number("unit-size"), number("unit-min")});
      membership.unit = std::make_shared<const model::Unit>(model::Unit{0, label("unit")});
    }
    membership.declared = std::make_shared<const model::GangSpec>(std::move(spec));
    return membership;
  }
};

struct VictimRig {
  // `now_ms`: wall time. Pods are made at 0.
  explicit VictimRig(base::Millis now_ms = 1'800'000'000'000) : clock(now_ms) {
    dialects.push_back(std::make_unique<GangLabels>());
  }

  // Adds a pod at work, or one that waits if `brief` has no node.
  model::PodId Add(const tests::json& brief) {
    const model::PodId pod = cluster.AddPod(brief);
    book.Join(pod, book.OwnerOf(pod));
    if (const model::GangId gang = book.GangOf(pod)) book.at(gang).whole = brief.contains("node");
    return pod;
  }
  model::GangId GangOf(const std::string& name) { return book.Find(model::GangKey{"labels", "default", name}); }

  VictimAnswer Ask(model::GangId id) {
    const std::shared_ptr<const Census> census = book.CensusOf(book.at(id));
    RightsByPriority rights(book.Priority(book.at(id)));
    VictimAnswer answer = search.Run(id, census->pending, Require(book.at(id), *census), rights);
    cluster.state().Audit();
    return answer;
  }
  // Tells whether the gang fits when these are gone.
  bool FitsWithout(model::GangId id, const std::set<model::PodId>& gone) {
    const std::shared_ptr<const Census> census = book.CensusOf(book.at(id));
    const cluster::WhatIf::Scope scope(planner.what_if());
    for (const model::PodId pod : gone) planner.what_if().Evict(pod);
    return planner.PlaceRequired(book.at(id), census->pending, Require(book.at(id), *census)).fits;
  }
  const model::Pod& PodOf(model::PodId id) const { return *cluster_state().pod(id).pod; }
  const cluster::ClusterState& cluster_state() const { return cluster.state(); }

  // Returns the names of all victims, sorted.
  std::vector<std::string> Names(const VictimAnswer& answer) const {
    std::vector<std::string> names;
    for (const VictimUnit& unit : answer.victims)
      for (const model::PodId pod : unit.pods) names.push_back(PodOf(pod).meta.name);
    std::ranges::sort(names);
    return names;
  }
  static std::set<model::PodId> PodsOf(const std::vector<VictimUnit>& units, const VictimUnit* but = nullptr) {
    std::set<model::PodId> pods;
    for (const VictimUnit& unit : units)
      if (&unit != but) pods.insert(unit.pods.begin(), unit.pods.end());
    return pods;
  }

  base::VirtualClock clock;
  tests::TestCluster cluster;
  std::vector<framework::Profile> profiles{plugins::DefaultProfile("s")};
  dialects::DialectList dialects;
  observe::Journal journal;
  Rankings rankings{profiles, cluster.snapshot(), size_t{64} << 20};
  GangBook book{profiles, cluster.state(), dialects, journal, clock};
  Planner planner{cluster.state(), rankings};
  Evictable evictable{cluster.state(), book};
  VictimSearch search{cluster.state(), book, evictable, planner, rankings, clock};
};

}  // namespace tutti::core
