// SPDX-License-Identifier: Apache-2.0
// Quota before pods, whatever happens: gangs come, run and go, nodes fail, the scheduler dies.
#include "base/random.h"
#include "tests/core/quota_rig.h"

namespace tutti::core {
namespace {

using dialects::GangState;

// Jobs as their controllers have them: pods are made once a gang is admitted, and end a while after it has to leave.
class Storm {
 public:
  explicit Storm(uint64_t seed) : random_(seed) {
    rig_.lingers = true;
    rig_.AddFlavor("spot", {{"type", "spot"}});
    rig_.AddFlavor("standard", {{"type", "standard"}});
    for (const char* name : {"a", "b"}) {
      model::LeafQueueSpec& leaf = rig_.AddLeaf(name, {{"spot", 6}, {"standard", 4}});
      leaf.cohort = "all";
      leaf.preemption = {model::PreemptionPolicy::kLowerPriority, model::PreemptionPolicy::kAny, false, {}};
      if (name[0] == 'b') leaf.strategy = model::QueueingStrategy::kStrictFifo;
    }
    for (int i = 0; i < 4; ++i) AddNode();
  }

  void Step() {
    Act();
    rig_.Settle();
    RunJobs();
    for (int i = 0; i < 20 && LetLeave(); ++i) rig_.Settle();
    RunJobs();
    Check();
  }

 private:
  void Act() {
    switch (random_.Below(8)) {
      case 0: return AddNode();
      case 1:
        if (nodes_.size() > 2) RemoveNode();
        return;
      case 2:
      case 3: return Withdraw();
      case 4: return Restart();
      default: return Declare();
    }
  }

  void AddNode() {
    const std::string name = fmt::format("n{}", ++made_);
    rig_.AddNode(name, static_cast<int>(random_.Between(1, 4)), 0, {{"type", random_.OneIn(2) ? "spot" : "standard"}});
    nodes_.push_back(name);
  }

  // One on which nothing runs: pods of a node that is gone are another matter.
  void RemoveNode() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      bool used = false;
      for (const auto& [gang, pods] : pods_)
        for (const std::string& pod : pods) used = used || rig_.NodeOf(pod) == nodes_[i];
      if (used) continue;
      rig_.DeleteNode(nodes_[i]);
      nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }

  void Declare() {
    const std::string name = fmt::format("g{}", ++made_);
    sim::Json role = {{"count", random_.Between(1, 4)}, {"cpu", std::to_string(random_.Between(1, 2))}};
    if (random_.OneIn(4)) role["min"] = 1;
    rig_.Declare(name, random_.OneIn(2) ? "a" : "b", {{"worker", role}},
                 {{"priority", std::to_string(random_.Below(4))}});
    gangs_.push_back(name);
  }

  void Withdraw() {
    if (gangs_.empty()) return;
    const size_t i = random_.Below(gangs_.size());
    for (const std::string& pod : pods_[gangs_[i]]) rig_.Delete(pod);
    pods_.erase(gangs_[i]);
    rig_.Withdraw(gangs_[i]);
    rig_.world.reports.erase(gangs_[i]);
    gangs_.erase(gangs_.begin() + static_cast<ptrdiff_t>(i));
  }

  // What was decided stands in the objects by then.
  void Restart() {
    std::map<std::string, model::HeldQuota> before;
    for (const std::string& gang : gangs_) {
      const auto& has = rig_.Report(gang).quota.has;
      rig_.Annotate(gang, "has", has ? has->leaf : "");
      rig_.Annotate(gang, "evicted", has && has->evicted ? "true" : "false");
      if (!has) continue;
      before[gang] = *has;
      rig_.Annotate(gang, "flavor", has->roles.at(0).flavors.at("cpu"));
      rig_.Annotate(gang, "count", std::to_string(has->roles.at(0).count));
    }
    rig_.Restart();
    rig_.Settle();
    for (const auto& [gang, has] : before) {
      if (!pods_.contains(gang)) continue;  // without pods its place may be another one's by now
      INFO(gang);
      REQUIRE(rig_.Report(gang).quota.has.has_value());
      CHECK(rig_.Report(gang).quota.has->roles == has.roles);
    }
    for (auto& [gang, evictions] : seen_) evictions = 0;
  }

  void RunJobs() {
    for (const std::string& gang : gangs_) {
      const dialects::GangReport& report = rig_.Report(gang);
      if (report.state != GangState::kAdmitted || !report.quota.has || report.quota.has->evicted) continue;
      if (pods_.contains(gang)) continue;
      const model::HeldQuota::Role role = report.quota.has->roles.at(0);
      rig_.Annotate(gang, "released", "true");
      const std::string cpu = std::to_string(role.requests.Get(model::kCpu) / role.count / 1'000);
      const sim::Json spec = {{"nodeSelector", {{"type", role.flavors.at("cpu")}}}};
      for (int64_t i = 0; i < role.count; ++i) {
        pods_[gang].push_back(fmt::format("{}-{}-{}", gang, ++made_, i));
        rig_.AddPod(pods_[gang].back(), {.gang = gang, .role = "worker", .cpu = cpu, .spec = spec});
      }
    }
    rig_.Settle();
  }

  // Jobs that have to leave stop. True: some did.
  bool LetLeave() {
    bool some = false;
    for (const std::string& gang : gangs_) {
      const dialects::QuotaReport& quota = rig_.Report(gang).quota;
      if (int64_t& seen = seen_[gang]; quota.evictions > seen) {
        seen = quota.evictions;
        for (const std::string& other : gangs_)
          if (UidOf(other) == quota.by_uid) preemptors_.insert(other);
      }
      if (!quota.has || !quota.has->evicted) continue;
      some = true;
      rig_.Annotate(gang, "evicted", "true");
      rig_.Annotate(gang, "released", "false");
      for (const std::string& pod : pods_[gang]) rig_.Delete(pod);
      pods_.erase(gang);
    }
    return some;
  }

  std::string UidOf(const std::string& gang) const { return sim::UidOf(*rig_.store.Find(kGroups, "default", gang)); }

  void Check() {
    std::map<std::string, int64_t> used;
    for (const std::string& gang : gangs_) {
      const dialects::GangReport& report = rig_.Report(gang);
      if (!report.quota.has) continue;
      const model::HeldQuota::Role& role = report.quota.has->roles.at(0);
      used[role.flavors.at("cpu")] += role.requests.Get(model::kCpu);
      if (report.quota.has->evicted || pods_.contains(gang)) continue;
      INFO(gang);
      int64_t placed = 0;
      for (const auto& [node, count] : report.nodes_by_role.contains("worker") ? report.nodes_by_role.at("worker")
                                                                               : std::map<std::string, int64_t>())
        placed += count;
      CHECK(placed == role.count);  // quota is given where there are nodes
    }
    CHECK(used["spot"] <= 12'000);
    CHECK(used["standard"] <= 8'000);
    for (const std::string& gang : std::exchange(preemptors_, {})) {
      if (std::ranges::find(gangs_, gang) == gangs_.end()) continue;
      INFO(gang << ": " << rig_.Report(gang).quota.message);
      CHECK((rig_.Has(gang) || seen_[gang] > 0));  // what left for it made room
    }
  }

  base::Random random_;
  QuotaRig rig_;
  int made_ = 0;
  std::vector<std::string> nodes_, gangs_;
  std::map<std::string, std::vector<std::string>> pods_;  // of gangs whose job runs
  std::map<std::string, int64_t> seen_;                   // evictions
  std::set<std::string> preemptors_;
};

TEST_CASE("quota: it is never exceeded nor given without nodes, and no gang leaves without need, whatever happens") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Storm storm(seed);
    for (int step = 0; step < 40; ++step) storm.Step();
  }
}

}  // namespace
}  // namespace tutti::core
