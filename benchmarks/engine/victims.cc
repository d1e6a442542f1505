// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/engine/victims.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"
#include "benchmarks/engine/world.h"
#include "core/admit/charges.h"
#include "core/passes/taking_rights.h"
#include "core/place/victim_search.h"
#include "plugins/registry.h"
#include "tests/support/rights_by_priority.h"

namespace tutti::bench {
namespace {

constexpr size_t kNodes = 500, kGpus = 8;
constexpr core::QueueRule kReclaims{.kind = core::QueueRule::Kind::kCapacity, .reclaim = true};

// A gang is what Pod::scheduling_group names, and needs `min` members.
class Groups final : public dialects::Dialect {
 public:
  std::string_view name() const override { return "groups"; }
  void Put(std::shared_ptr<const model::Object>, dialects::Touched*) override {}
  void Drop(std::string_view, std::string_view, std::string_view, dialects::Touched*) override {}
  model::GangSpec Describe(const model::GangKey& key) const override {
    model::GangSpec spec;
    spec.key = key;
    spec.min_member = min;
    if (key.name == "racked") spec.topology.required = "rack";
    if (in_queues) spec.queue = key.name.starts_with("low") ? "lent" : "owner";
    return spec;
  }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    dialects::Membership membership;
    membership.lone = pod.scheduling_group.empty();
    membership.gang = {"groups", pod.meta.ns, membership.lone ? pod.meta.name : pod.scheduling_group};
    return membership;
  }
  int64_t min = 1;
  bool in_queues = false;
};

enum class Taking { kByPriority, kByShare };

// Where the pods at work are: a gang on one node, or over many.
enum class Spread { kPacked, kWide };

class FullCluster {
 public:
  // Pods at work are in gangs of so many; 0: in none.
  explicit FullCluster(size_t in_gangs = 0, Spread spread = Spread::kWide, Taking taking = Taking::kByPriority)
      : taking_(taking) {
    auto groups = std::make_unique<Groups>();
    groups_ = groups.get();
    groups_->in_queues = taking == Taking::kByShare;
    dialects_.push_back(std::move(groups));
    options_.profiles = profiles_;
    options_.queue_rule = kReclaims;
    for (const char* name : {"lent", "owner"}) {
      model::QueueSpec queue;
      queue.dialect = "groups";
      queue.name = name;
      queue.deserved.Set("nvidia.com/gpu", queue.name == "owner" ? int64_t{kNodes * kGpus} : 0);
      queues_.Put(std::move(queue));
    }
    for (size_t i = 0; i < kNodes; ++i) {
      const auto node = std::make_shared<model::Node>(MakeNode(i, kGpus));
      queues_.AddNode(node->allocatable);
      state_.ApplyNode(node);
    }
    queues_.Renew();
    groups_->min = static_cast<int64_t>(in_gangs);
    const auto spec = std::make_shared<const model::PodSpec>(MakeSpec(100, int64_t{1} << 20, 1));
    for (size_t i = 0; i < kNodes * kGpus; ++i) {
      auto pod = MakePod(fmt::format("low-{}", i), spec, 1'000'000 + static_cast<base::Millis>(i % 97) * 1000);
      pod->node_name = fmt::format("node-{:06}", spread == Spread::kWide && in_gangs > 0 ? i % kNodes : i / kGpus);
      pod->phase = model::PodPhase::kRunning;
      if (in_gangs > 0) pod->scheduling_group = fmt::format("low-{}", i / in_gangs);
      Add(std::move(pod));
    }
    state_.Reclassify();
    book_.ForEach([](model::GangId, core::Gang& gang) { gang.whole = true; });
  }

  model::GangId Arrive(const std::string& name, size_t members, int64_t gpus) {
    groups_->min = static_cast<int64_t>(members);
    model::PodSpec spec = MakeSpec(1000, int64_t{1} << 30, gpus);
    spec.priority = 10;
    const auto shared = std::make_shared<const model::PodSpec>(std::move(spec));
    for (size_t i = 0; i < members; ++i) {
      auto pod = MakePod(fmt::format("{}-{}", name, i), shared, 2'000'000);
      pod->scheduling_group = name;
      Add(std::move(pod));
    }
    state_.Reclassify();
    return book_.Find(model::GangKey{"groups", "default", name});
  }

  // Whether victims make room, and in which time; they are gone then, and the room is taken.
  bool MakeRoom(model::GangId id, VictimTime* time) {
    const auto census = book_.CensusOf(book_.at(id));
    const core::Requirement requirement = core::Require(book_.at(id), *census);
    TUTTI_CHECK(!planner_.PlaceRequired(book_.at(id), census->pending, requirement).fits, "it does not fit as it is");
    core::RightsByPriority by_priority(book_.Priority(book_.at(id)));
    core::TakingRights by_share(options_, state_, book_, queues_, admission_, clock_, id, *census, requirement,
                                [](model::PodId) { return true; });
    core::VictimRights* rights = &by_share;
    if (taking_ == Taking::kByPriority) rights = &by_priority;
    const double started = ThreadSeconds();
    const core::VictimAnswer answer = search_.Run(id, census->pending, requirement, *rights);
    time->seconds = std::max(time->seconds, ThreadSeconds() - started);
    TUTTI_CHECK(!answer.exhausted, "every victim is known to be needed");
    std::set<model::PodId> pods;
    for (const core::VictimUnit& unit : answer.victims) pods.insert(unit.pods.begin(), unit.pods.end());
    time->victims += pods.size();
    for (const model::PodId pod : pods) {
      if (const model::GangId gang = book_.GangOf(pod)) charges_.TakeBack(book_.at(gang), book_.MemberOf(pod));
      book_.Leave(pod);
      state_.DropPod(pod);
    }
    for (const cluster::Placement& placement : answer.placements)
      state_.Reserve(book_.at(placement.member).pod, placement.node);
    return answer.fits;
  }

  // With what the search has read before, as when it was asked a moment ago.
  void ReadBefore() { evictable_.CatchUp(); }

 private:
  void Add(std::shared_ptr<model::Pod> pod) {
    const model::PodId id = state_.ApplyPod(std::move(pod)).id;
    const model::GangId gang = book_.Join(id, book_.OwnerOf(id));
    if (taking_ == Taking::kByPriority) return;
    charges_.Move(book_.at(gang));
    charges_.Update(book_.at(gang), book_.MemberOf(id));
  }

  const Taking taking_;
  base::VirtualClock clock_{1'800'000'000'000};
  std::vector<framework::Profile> profiles_{plugins::DefaultProfile("default-scheduler")};
  dialects::DialectList dialects_;
  Groups* groups_ = nullptr;
  observe::Journal journal_;
  cluster::ClusterState state_;
  core::Rankings rankings_{profiles_, state_.snapshot(), size_t{256} << 20};
  core::GangBook book_{profiles_, state_, dialects_, journal_, clock_};
  core::Planner planner_{state_, rankings_};
  core::Evictable evictable_{state_, book_};
  core::Options options_;
  core::Queues queues_{kReclaims};
  core::Agenda agenda_{book_, queues_.tree(), queues_.order(), clock_};
  core::QueueWaits waits_{queues_, book_, agenda_, clock_};
  core::Charges charges_{state_, queues_, waits_};
  core::QueueAdmission admission_{state_, queues_};
  core::VictimSearch search_{state_, book_, evictable_, planner_, rankings_, clock_};
};

}  // namespace

VictimTime ProveThatNoVictimsHelp() {
  FullCluster cluster;
  VictimTime time;
  TUTTI_CHECK(!cluster.MakeRoom(cluster.Arrive("gang", kNodes + 1, kGpus), &time), "there are not so many GPUs");
  return time;
}

VictimTime ProveThatNoVictimsHelpAgain() {
  FullCluster cluster;
  cluster.ReadBefore();
  VictimTime time;
  TUTTI_CHECK(!cluster.MakeRoom(cluster.Arrive("gang", kNodes + 1, kGpus), &time), "there are not so many GPUs");
  return time;
}

VictimTime MakeRoomInOneRack() {
  FullCluster cluster;
  VictimTime time;
  TUTTI_CHECK(cluster.MakeRoom(cluster.Arrive("racked", 80, 1), &time), "a rack has 80 GPUs");
  TUTTI_CHECK(time.victims == 80, "no more go than are needed");
  return time;
}

VictimTime MakeRoomOnAllNodes() {
  FullCluster cluster;
  VictimTime time;
  TUTTI_CHECK(cluster.MakeRoom(cluster.Arrive("gang", kNodes, kGpus), &time), "there are 500 nodes");
  return time;
}

VictimTime MakeRoomForManyGangs() {
  FullCluster cluster(10);
  VictimTime time;
  for (size_t i = 0; i < 50; ++i)
    TUTTI_CHECK(cluster.MakeRoom(cluster.Arrive(fmt::format("gang-{}", i), 10, 1), &time), "a gang goes for a gang");
  TUTTI_CHECK(time.victims == 500, "no more go than are needed");
  return time;
}

VictimTime TakeBackAllNodes() {
  FullCluster cluster(kGpus, Spread::kPacked, Taking::kByShare);
  VictimTime time;
  TUTTI_CHECK(cluster.MakeRoom(cluster.Arrive("gang", kNodes, kGpus), &time), "there are 500 nodes");
  return time;
}

VictimTime TakeBackForManyGangs() {
  FullCluster cluster(10, Spread::kWide, Taking::kByShare);
  VictimTime time;
  for (size_t i = 0; i < 50; ++i)
    TUTTI_CHECK(cluster.MakeRoom(cluster.Arrive(fmt::format("gang-{}", i), 10, 1), &time), "a gang goes for a gang");
  TUTTI_CHECK(time.victims == 500, "no more go than are needed");
  return time;
}

}  // namespace tutti::bench
