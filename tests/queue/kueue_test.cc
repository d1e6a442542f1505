// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/random.h"
#include "queue/policies/kueue/flavor_match.h"
#include "queue/policies/kueue/partial.h"
#include "tests/queue/kueue_desk.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

// What a queue uses and may still have, by the definitions, without any sum that is kept.
struct Recount {
  std::map<std::string, std::string> parent;
  std::map<std::string, model::CellQuota> quota;
  std::map<std::string, int64_t> charged;

  std::vector<std::string> Below(const std::string& queue) const {
    std::vector<std::string> below;
    for (const auto& [child, up] : parent)
      if (up == queue) below.push_back(child);
    return below;
  }
  int64_t Subtree(const std::string& queue) const {
    int64_t sum = quota.at(queue).nominal;
    for (const std::string& child : Below(queue)) sum += Subtree(child) - Kept(child);
    return sum;
  }
  int64_t Kept(const std::string& queue) const {
    const auto lending = quota.at(queue).lending_limit;
    return lending ? std::max<int64_t>(0, Subtree(queue) - *lending) : 0;
  }
  int64_t Used(const std::string& queue) const {
    const auto own = charged.find(queue);
    int64_t sum = own == charged.end() ? 0 : own->second;
    for (const std::string& child : Below(queue)) sum += std::max<int64_t>(0, Used(child) - Kept(child));
    return sum;
  }
  int64_t Available(const std::string& queue) const {
    const std::string& up = parent.at(queue);
    if (up.empty()) return Subtree(queue) - Used(queue);
    int64_t from_above = Available(up);
    if (const auto limit = quota.at(queue).borrowing_limit)
      from_above =
          std::min(from_above, Subtree(queue) - Kept(queue) - std::max<int64_t>(0, Used(queue) - Kept(queue)) + *limit);
    return std::max<int64_t>(0, Kept(queue) - Used(queue)) + from_above;
  }
  int64_t Potential(const std::string& queue) const {
    const std::string& up = parent.at(queue);
    if (up.empty()) return Subtree(queue);
    const int64_t most = Kept(queue) + Potential(up);
    const auto limit = quota.at(queue).borrowing_limit;
    return limit ? std::min(most, Subtree(queue) + *limit) : most;
  }
};

}  // namespace

TEST_CASE("kueue: in random trees every queue has, lends and may take what the definitions say") {
  base::Random random(7);
  for (int trial = 0; trial < 60; ++trial) {
    QueueTree tree;
    Ledger ledger(tree);
    ShareTree shares(tree, ledger);
    Recount recount;
    std::vector<std::string> cohorts{""};
    std::vector<std::string> leaves;
    const auto limit = [&] { return random.OneIn(2) ? std::optional<int64_t>() : random.Between(0, 6); };
    for (int i = 0; i < 10; ++i) {
      const bool leaf = i > 3;
      const std::string name = (leaf ? "l" : "c") + std::to_string(i);
      const std::string up = cohorts[random.Below(cohorts.size())];
      const model::CellQuota quota = Quota(random.Between(0, 8), limit(), limit());
      recount.parent[name] = up;
      recount.quota[name] = quota;
      if (leaf) {
        shares.Put(Leaf(name, up, quota));
        leaves.push_back(name);
      } else {
        shares.Put(Cohort(name, up, quota));
        cohorts.push_back(name);
      }
    }
    const CellId cell = tree.cells().Find("f", "gpu");
    std::vector<std::pair<ChargeId, std::pair<std::string, int64_t>>> charges;
    for (int step = 0; step < 40; ++step) {
      if (charges.empty() || random.OneIn(2)) {
        const std::string leaf = leaves[random.Below(leaves.size())];
        const int64_t amount = random.Between(1, 5);
        charges.push_back({ledger.Charge(shares.Leaf(leaf), Ask(tree.cells(), {{cell, amount}})), {leaf, amount}});
        recount.charged[leaf] += amount;
      } else {
        const size_t which = random.Below(charges.size());
        ledger.Release(charges[which].first);
        recount.charged[charges[which].second.first] -= charges[which].second.second;
        charges.erase(charges.begin() + static_cast<std::ptrdiff_t>(which));
      }
      for (const std::string& leaf : leaves) {
        const QueueId id = shares.Leaf(leaf);
        CHECK(shares.Available(id, cell) == recount.Available(leaf));
        CHECK(shares.Potential(id, cell) == recount.Potential(leaf));
        if (const std::string& up = recount.parent[leaf]; !up.empty()) {
          CHECK(shares.Used(shares.parent(id), cell) == recount.Used(up));
          CHECK(shares.Subtree(shares.parent(id), cell) == recount.Subtree(up));
        }
      }
    }
    ledger.Audit();
  }
}

TEST_CASE("kueue: a taint, a selector and an affinity keep pods from a flavor, by the labels that it has") {
  model::Flavor flavor;
  flavor.name = "spot";
  flavor.labels = {{"tier", "spot"}, {"zone", "a"}};
  flavor.taints = {{"spot", "yes", "NoSchedule"}, {"soft", "", "PreferNoSchedule"}};
  model::PodSpec pod;
  CHECK(MismatchOf(pod, flavor) == "untolerated taint {spot yes NoSchedule <nil>} in flavor spot");
  pod.tolerations = {{"spot", "Equal", "no", ""}};
  CHECK_FALSE(MismatchOf(pod, flavor).empty());
  pod.tolerations = {{"spot", "Exists", "", "NoSchedule"}};
  CHECK(MismatchOf(pod, flavor).empty());

  pod.node_selector = {{"disk", "ssd"}, {"tier", "spot"}};  // the flavor has no label `disk`: nodes will say
  CHECK(MismatchOf(pod, flavor).empty());
  pod.node_selector = {{"tier", "on-demand"}};
  CHECK(MismatchOf(pod, flavor) == "flavor spot doesn't match node affinity");
  pod.node_selector.clear();

  const auto term = [](const std::string& key, model::Operator op, std::vector<std::string> values) {
    return model::NodeSelectorTerm{{{key, op, std::move(values)}}, {}};
  };
  pod.required_node_affinity = model::NodeSelector{{term("zone", model::Operator::kIn, {"b", "c"})}};
  CHECK_FALSE(MismatchOf(pod, flavor).empty());
  pod.required_node_affinity->terms.push_back(term("disk", model::Operator::kExists, {}));
  CHECK(MismatchOf(pod, flavor).empty());
  pod.required_node_affinity->terms = {term("zone", model::Operator::kNotIn, {"b"})};
  CHECK(MismatchOf(pod, flavor).empty());
}

TEST_CASE("kueue: a gang starts with as many as fit, all roles shrinking alike, and not below a minimum") {
  model::GangAsk ask = AskFor("a", 20);
  ask.roles.push_back(ask.roles[0]);
  ask.roles[0].min_count = 10;
  ask.roles[1].min_count = 0;
  CHECK(MayShrink(ask));
  const auto room = [](int64_t most) {
    return [most](const std::vector<int64_t>& counts) { return counts[0] + counts[1] <= most; };
  };
  CHECK(LargestCounts(ask, room(40)) == std::vector<int64_t>{20, 20});
  CHECK(LargestCounts(ask, room(25)) == std::vector<int64_t>{15, 10});
  CHECK(LargestCounts(ask, room(10)) == std::vector<int64_t>{10, 0});
  CHECK_FALSE(LargestCounts(ask, room(9)).has_value());
}

TEST_CASE("kueue: shapes stand aside as a whole, and come back for what they lack alone") {
  Lines lines;
  const auto none = [](const std::string&) { return 0.0; };
  const QueueId leaf(0);
  const CellId gpu(0), cpu(1);
  const auto put = [&](uint32_t gang, int32_t priority, const std::string& shape) {
    lines.Put(model::GangId(gang), leaf, {priority, gang, std::to_string(gang)}, shape, "l", false);
  };
  put(1, 5, "big");
  put(2, 1, "big");
  put(3, 3, "small");
  CHECK(lines.First(leaf, none) == model::GangId(1));
  lines.StandAside(model::GangId(1), std::vector{gpu}, {WaitReason::kWaitingForQuota, "short"});
  CHECK(lines.First(leaf, none) == model::GangId(3));
  CHECK(lines.WhyAside(model::GangId(2))->message == "short");
  put(4, 9, "big");  // stands aside with the others
  CHECK(lines.First(leaf, none) == model::GangId(3));
  lines.Wake(std::vector{cpu}, [](QueueId) { return true; });
  CHECK(lines.First(leaf, none) == model::GangId(3));
  lines.Wake(std::vector{gpu}, [](QueueId) { return true; });
  CHECK(lines.First(leaf, none) == model::GangId(4));
  lines.PutFirst(model::GangId(2));
  put(5, 9, "other");
  CHECK(lines.First(leaf, none) == model::GangId(2));
  for (uint32_t gang = 1; gang <= 5; ++gang) lines.Erase(model::GangId(gang));
  CHECK(lines.size() == 0);
  CHECK_FALSE(lines.First(leaf, none).has_value());
}

TEST_CASE("kueue: the namespace that used least comes first, and what it used is half forgotten in time") {
  LocalUsageRules rules;
  rules.half_life_ms = 1'000;
  rules.sampling_ms = 1'000;
  LocalUsage usage(rules);
  usage.Take("l", Gpu(8), 0);
  CHECK(usage.Of("l", 0) == 0);
  CHECK(usage.Of("l", 1'000) == Approx(4));
  CHECK(usage.Of("l", 2'000) == Approx(6));
  usage.Return("l", Gpu(8), 2'000);
  CHECK(usage.Of("l", 3'000) == Approx(3));
  usage.CountAdmission("l", Gpu(4));
  CHECK(usage.Of("l", 2'000) == Approx(8));
  usage.SetWeight("l", 2);
  CHECK(usage.Of("l", 2'000) == Approx(4));

  KueueRules of_all;
  of_all.local_usage = rules;
  Desk desk(of_all);
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(3));
  leaf.by_local_usage = true;
  desk.Put(leaf);
  desk.admission.Put(model::LocalQueueSpec{"ns", "b", "a"}, true);
  desk.Wait(1, AskFor("a", 1));
  desk.Wait(2, AskFor("a", 1));
  desk.Wait(3, AskFor("a", 1));
  desk.Wait(4, AskFor("b", 1, 0, 9));
  desk.Run();
  CHECK(desk.Has(4));
  CHECK_FALSE(desk.Has(3));
}

}  // namespace tutti::queue
