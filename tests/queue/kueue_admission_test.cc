// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <map>
#include <set>

#include "base/random.h"
#include "tests/queue/kueue_desk.h"
#include "tests/support/catch.h"

namespace tutti::queue {

using model::PreemptionPolicy;

TEST_CASE("kueue: one pass admits as many of a line as fit, and says of the first that does not what is short") {
  Desk desk;
  desk.Put(Leaf("a", "", Quota(10)));
  for (uint32_t gang = 0; gang < 12; ++gang) desk.Wait(gang, AskFor("a", 1, 0, gang));
  const PassResult result = desk.Run();
  CHECK(result.admitted.size() == 10);
  CHECK(desk.Has(9));
  CHECK_FALSE(desk.Has(10));
  CHECK(result.refused == std::set{model::GangId(10), model::GangId(11)});
  const std::string short_of_one =
      "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor f, 1 more needed";
  CHECK(desk.Why(10) == short_of_one);
  CHECK(desk.Why(11) == short_of_one);  // it asks for the same
  CHECK(desk.admission.Explain(model::GangId(10)).reason == WaitReason::kWaitingForQuota);

  desk.Forget(3);
  CHECK(desk.Run().admitted.size() == 1);
  CHECK(desk.Has(10));
}

TEST_CASE("kueue: what is more than the queue could ever have, and what it has not at all, is said so") {
  Desk desk;
  desk.Put(Leaf("a", "", Quota(10)));
  desk.Wait(1, AskFor("a", 11));
  model::GangAsk other = AskFor("a", 1);
  model::PodSpec pod;
  pod.requests = Of({{"fpga", 1}});
  other.roles[0].pod = pod;
  desk.Wait(2, other);
  desk.Run();
  CHECK(desk.Why(1) ==
        "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor f, previously considered "
        "podsets requests (0) + current podset request (11) > maximum capacity (10)");
  CHECK(desk.admission.Explain(model::GangId(1)).reason == WaitReason::kExceedsMaxQuota);
  CHECK(desk.Why(2) == "couldn't assign flavors to pod set main: resource fpga unavailable in ClusterQueue");
  CHECK(desk.admission.Explain(model::GangId(2)).reason == WaitReason::kNoMatchingFlavor);
}

TEST_CASE("kueue: the first of a strict line blocks it, of a best-effort line it does not") {
  for (const bool strict : {true, false}) {
    Desk desk;
    model::LeafQueueSpec leaf = Leaf("a", "", Quota(10));
    if (strict) leaf.strategy = model::QueueingStrategy::kStrictFifo;
    desk.Put(leaf);
    desk.Wait(1, AskFor("a", 11, 1));
    desk.Wait(2, AskFor("a", 1));
    desk.Run();
    CHECK(desk.Has(2) == !strict);
    desk.admission.Forget(model::GangId(1), 1);  // the next one is the first now
    if (desk.admission.any()) desk.Run();
    CHECK(desk.Has(2));
  }
}

TEST_CASE("kueue: a gang that was refused is not looked at again before something that it lacked is freer") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(1));
  leaf.groups = {{{"gpu"}, {{"f", {{"gpu", Quota(1)}}}}}, {{"cpu"}, {{"f", {{"cpu", Quota(1)}}}}}};
  desk.Put(leaf);
  const auto cpu = [] {
    model::GangAsk ask = AskFor("a", 1);
    model::PodSpec pod;
    pod.requests = Of({{"cpu", 1}});
    ask.roles[0].pod = pod;
    return ask;
  };
  desk.Wait(1, AskFor("a", 1));
  desk.Wait(2, cpu());
  desk.Run();
  desk.Wait(3, AskFor("a", 1));
  CHECK(desk.Run().refused.contains(model::GangId(3)));
  desk.Forget(2);  // cpu is freer, and no gpu
  desk.Wait(4, cpu());
  CHECK(desk.Run().admitted.size() == 1);
  desk.Forget(1);
  CHECK(desk.Run().admitted.size() == 1);
  CHECK(desk.Has(3));
}

TEST_CASE("kueue: a preemptor that waits for its victims keeps their room, and its turn") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(2));
  leaf.preemption.within_queue = PreemptionPolicy::kLowerPriority;
  desk.Put(leaf);
  desk.Wait(1, AskFor("a", 2));
  desk.Run();
  desk.Wait(2, AskFor("a", 2, 1));
  const PassResult result = desk.Run();
  REQUIRE(result.evicted.size() == 1);
  CHECK(result.evicted[0].gang == model::GangId(1));
  CHECK(result.evicted[0].by == model::GangId(2));
  CHECK(
      desk.Why(2) ==
      "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor f, 2 more needed. Pending "
      "the preemption of 1 workload(s)");
  desk.Wait(3, AskFor("a", 1, 1, 0));  // older, of the same priority
  CHECK(desk.Run().evicted.empty());   // it is told once
  desk.Forget(1);
  desk.Run();
  CHECK(desk.Has(2));
  CHECK_FALSE(desk.Has(3));
}

// What gang 1 asks for that has quota already.
model::GangAsk AskForMore(const std::string& local, int64_t gpus) {
  model::GangAsk ask = AskFor(local, gpus);
  ask.replaces = "1";
  return ask;
}

TEST_CASE("kueue: a gang that asks for more keeps what it has until it gets all of the rest, and pays the difference") {
  Desk desk;
  desk.Put(Leaf("a", "", Quota(4)));
  desk.Wait(1, AskFor("a", 2));
  desk.Wait(2, AskFor("a", 1));
  desk.Run();
  desk.Wait(1, AskForMore("a", 4));
  CHECK(desk.Run().admitted.empty());
  CHECK(desk.admission.holding(model::GangId(1))->roles[0].count == 2);
  CHECK(desk.Why(1) ==
        "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor f, 1 more needed");
  desk.Forget(2);
  const PassResult result = desk.Run();
  REQUIRE(result.admitted.size() == 1);
  CHECK(result.admitted[0].replaces == model::GangId(1));
  CHECK(desk.admission.holding(model::GangId(1))->roles[0].count == 4);
  CHECK_FALSE(desk.admission.waits(model::GangId(1)));
  desk.Wait(3, AskFor("a", 1));
  desk.Run();
  CHECK_FALSE(desk.Has(3));
  desk.Forget(1);
  desk.Run();
  CHECK(desk.Has(3));
}

TEST_CASE("kueue: a gang that has quota in one queue gets none of another, and loses none for that") {
  Desk desk;
  desk.Put(Leaf("a", "c", Quota(2)));
  model::LeafQueueSpec b = Leaf("b", "c", Quota(4));
  b.preemption.within_cohort = PreemptionPolicy::kAny;
  desk.Put(b);
  desk.Wait(1, AskFor("a", 2));
  desk.Run();
  desk.Wait(1, AskForMore("b", 4));
  const PassResult result = desk.Run();
  CHECK(result.admitted.empty());
  CHECK(result.evicted.empty());
  CHECK(desk.admission.holding(model::GangId(1))->roles[0].count == 2);
  CHECK(desk.Why(1) == "it has quota in another queue");
  desk.Wait(1, AskForMore("a", 3));
  CHECK(desk.Run().admitted.size() == 1);
  CHECK(desk.admission.holding(model::GangId(1))->roles[0].count == 3);
}

TEST_CASE("kueue: a gang that is told to leave in a pass gets no more in it, though there is room") {
  Desk desk;
  desk.Put(Leaf("a", "c", Quota(2)));
  model::LeafQueueSpec b = Leaf("b", "c", Quota(2));
  b.preemption.within_cohort = PreemptionPolicy::kAny;
  desk.Put(b);
  desk.Wait(1, AskFor("a", 3));
  desk.Run();
  desk.Wait(1, AskForMore("a", 4));
  desk.Wait(2, AskFor("b", 2));
  const PassResult result = desk.Run();
  CHECK(result.admitted.empty());
  REQUIRE(result.evicted.size() == 1);
  CHECK(result.evicted[0].gang == model::GangId(1));
  CHECK(desk.admission.holding(model::GangId(1))->evicted);
  CHECK_FALSE(desk.admission.waits(model::GangId(1)));
}

TEST_CASE("kueue: queues that cannot admit say why, and admit once they can") {
  Desk desk;
  desk.Wait(1, AskFor("a", 1));
  CHECK(desk.Why(1) == "LocalQueue a doesn't exist");
  desk.admission.Put(model::LocalQueueSpec{"ns", "a", "leaf"}, true);
  CHECK(desk.Why(1) == "ClusterQueue leaf doesn't exist");
  model::LeafQueueSpec leaf = Leaf("leaf", "", Quota(1));
  leaf.stop = model::StopPolicy::kHold;
  desk.admission.Put(leaf);
  desk.Run();
  CHECK(desk.Why(1) == "ClusterQueue leaf is inactive");
  leaf.stop = model::StopPolicy::kNone;
  desk.admission.Put(leaf);
  desk.admission.Put(model::LocalQueueSpec{"ns", "a", "leaf"}, false);
  CHECK(desk.Why(1) == "Workload namespace doesn't match ClusterQueue selector");
  desk.admission.DropFlavor("f");
  desk.admission.Put(model::LocalQueueSpec{"ns", "a", "leaf"}, true);
  desk.Run();
  CHECK(desk.Why(1) == "ClusterQueue leaf is inactive");
  model::Flavor flavor;
  flavor.name = "f";
  desk.admission.Put(flavor);
  desk.Run();
  REQUIRE(desk.Has(1));

  leaf.stop = model::StopPolicy::kHoldAndDrain;
  desk.admission.Put(leaf);
  const PassResult result = desk.Run();
  REQUIRE(result.evicted.size() == 1);
  CHECK_FALSE(result.evicted[0].by.valid());
  CHECK(desk.Run().evicted.empty());
}

TEST_CASE("kueue: cohorts whose parents lead round in a circle admit nothing until one of them has another parent") {
  Desk desk;
  desk.admission.Put(Cohort("x", "y", Quota(5)));
  desk.admission.Put(Cohort("y", "x", Quota(5)));
  desk.Put(Leaf("a", "x", Quota(0)));
  desk.Wait(1, AskFor("a", 8));
  desk.Run();
  CHECK_FALSE(desk.Has(1));
  desk.admission.Put(Cohort("y", "", Quota(5)));
  desk.Run();
  CHECK(desk.Has(1));
}

TEST_CASE("kueue: a queue borrows what its cohort does not use, up to its limit and what others lend") {
  Desk desk;
  desk.admission.Put(Cohort("c", "", Quota(1)));
  desk.Put(Leaf("a", "c", Quota(2, 3)));
  desk.Put(Leaf("b", "c", Quota(4, {}, 1)));
  desk.Wait(1, AskFor("a", 5));  // 2 of its own, 1 of the cohort, 1 that b lends
  desk.Run();
  CHECK_FALSE(desk.Has(1));
  desk.Wait(2, AskFor("a", 4));
  desk.Wait(3, AskFor("b", 3));  // b keeps 3 to itself
  desk.Run();
  CHECK(desk.Has(2));
  CHECK(desk.Has(3));
}

TEST_CASE("kueue: strict lines whose first gangs scan their flavors out of step come to an end") {
  Desk desk;
  uint32_t gang = 0;
  const auto hold = [&](const std::string& leaf, const std::string& flavor, const char* resource) {
    HeldQuota quota;
    quota.uid = std::to_string(++gang);
    quota.ns = "ns";
    quota.leaf = leaf;
    quota.roles = {{"main", 1, Of({{resource, 1}}), {{resource, flavor}}}};
    desk.admission.Hold(model::GangId(gang), quota, 1);
  };
  // Of each flavor another queue has the gpu, and a gang of the queue's own the cpu: each alone can be taken.
  const auto put = [&](const std::string& name, int flavors) {
    model::LeafQueueSpec leaf = Leaf(name, "c", Quota(1)), giver = Leaf(name + "-giver", "c", Quota(0));
    leaf.strategy = model::QueueingStrategy::kStrictFifo;
    leaf.fungibility.stop_when_preempting = true;
    leaf.preemption.within_queue = PreemptionPolicy::kLowerPriority;
    leaf.preemption.within_cohort = PreemptionPolicy::kAny;
    leaf.groups = {{{"cpu", "gpu"}, {}}};
    giver.groups = leaf.groups;
    for (int i = 0; i < flavors; ++i) {
      model::Flavor flavor;
      flavor.name = name + std::to_string(i);
      desk.admission.Put(flavor);
      leaf.groups[0].flavors.push_back({flavor.name, {{"cpu", Quota(1)}, {"gpu", Quota(1)}}});
      giver.groups[0].flavors.push_back({flavor.name, {{"cpu", Quota(0)}, {"gpu", Quota(0)}}});
      hold(name, flavor.name, "cpu");
      hold(giver.name, flavor.name, "gpu");
    }
    desk.Put(leaf);
    desk.Put(giver);
    model::GangAsk ask = AskFor(name, 1, 1);
    model::PodSpec pod;
    pod.requests = Of({{"cpu", 1}, {"gpu", 1}});
    ask.roles[0].pod = pod;
    desk.Wait(++gang, ask);
    return gang;
  };
  const uint32_t first = put("first", 2), second = put("second", 2);
  desk.Wait(++gang, AskFor("second", 0, 2));  // one that is admitted at once, so that the other scans a cycle later
  const PassResult result = desk.Run();
  CHECK(result.admitted.size() == 1);
  CHECK(result.evicted.empty());
  CHECK(desk.admission.Explain(model::GangId(first)).reason == WaitReason::kWaitingForQuota);
  CHECK(desk.admission.Explain(model::GangId(second)).reason == WaitReason::kWaitingForQuota);
}

TEST_CASE("kueue: a queue that is down to its quota gives no more, though that makes no room") {
  Desk desk;
  model::LeafQueueSpec taker = Leaf("taker", "c", Quota(2));
  taker.preemption.within_cohort = PreemptionPolicy::kAny;
  taker.preemption.while_borrowing = true;
  desk.Put(taker);
  desk.Put(Leaf("giver", "c", Quota(2)));
  desk.Wait(1, AskFor("taker", 1));
  desk.Wait(2, AskFor("giver", 1, -1));
  desk.Wait(3, AskFor("giver", 2));
  desk.Run();
  desk.Wait(4, AskFor("taker", 2, 1));  // the two of the giver would do
  CHECK(desk.Run().evicted.empty());
  desk.Forget(1);
  CHECK(desk.Run().evicted.size() == 1);
}

TEST_CASE(
    "kueue: by fair shares, a queue that borrows nothing of what is asked for comes first, whatever else it borrows") {
  KueueRules rules;
  rules.fair_sharing = true;
  Desk desk(rules);
  model::Flavor other;
  other.name = "g";
  desk.admission.Put(other);
  const auto put = [&](const std::string& name, int64_t f, int64_t g) {
    model::LeafQueueSpec leaf = Leaf(name, "c", Quota(f));
    leaf.groups = {{{"gpu"}, {{"f", {{"gpu", Quota(f)}}}}}, {{"tpu"}, {{"g", {{"tpu", Quota(g)}}}}}};
    desk.Put(leaf);
  };
  put("owner", 2, 0);
  put("borrower", 0, 0);
  put("lender", 4, 10);
  model::GangAsk tpus = AskFor("owner", 8);
  model::PodSpec pod;
  pod.requests = Of({{"tpu", 1}});
  tpus.roles[0].pod = pod;
  desk.Wait(1, tpus);
  desk.Wait(4, AskFor("lender", 4));
  desk.Run();
  desk.Wait(2, AskFor("borrower", 2, 1));  // 333 thousandths then, and the other 800
  desk.Wait(3, AskFor("owner", 2));
  desk.Run();
  CHECK(desk.Has(3));
  CHECK_FALSE(desk.Has(2));
}

TEST_CASE("kueue: a flavor that no gang would leave is worse than one that some gang would") {
  Desk desk;
  model::Flavor other;
  other.name = "g";
  desk.admission.Put(other);
  model::LeafQueueSpec leaf = Leaf("a", "c", Quota(1));
  leaf.groups = Gpus({{"f", Quota(1)}, {"g", Quota(0)}});
  leaf.preemption.within_queue = PreemptionPolicy::kLowerPriority;
  leaf.preemption.within_cohort = PreemptionPolicy::kAny;
  leaf.preemption.while_borrowing = true;
  desk.Put(leaf);
  model::LeafQueueSpec lender = Leaf("lender", "c", Quota(0));
  lender.groups = Gpus({{"g", Quota(1)}});
  desk.Put(lender);
  desk.Wait(1, AskFor("a", 1, 5));
  desk.Run();
  desk.Wait(2, AskFor("a", 1, 0));
  desk.Run();
  desk.Wait(3, AskFor("a", 1, 1));
  const PassResult result = desk.Run();
  REQUIRE(result.evicted.size() == 1);
  CHECK(result.evicted[0].gang == model::GangId(2));
}

TEST_CASE("kueue: what a queue lent and cannot take back is kept for the first of its strict line") {
  for (const auto policy : {PreemptionPolicy::kNever, PreemptionPolicy::kAny}) {
    Desk desk;
    model::LeafQueueSpec owner = Leaf("owner", "c", Quota(2));
    owner.strategy = model::QueueingStrategy::kStrictFifo;
    owner.preemption.within_cohort = policy;
    desk.Put(owner);
    desk.Put(Leaf("borrower", "c", Quota(0)));
    desk.Wait(1, AskFor("borrower", 1));
    desk.Run();
    desk.Wait(2, AskFor("owner", 2));
    desk.Wait(3, AskFor("borrower", 1));
    const PassResult result = desk.Run();
    CHECK_FALSE(desk.Has(3));
    CHECK(result.evicted.size() == (policy == PreemptionPolicy::kAny ? 1 : 0));
  }
}

TEST_CASE("kueue: no gang is evicted for another one that would not fit after those that came before it") {
  Desk desk;
  desk.Put(Leaf("owner", "c", Quota(1)));
  model::LeafQueueSpec taker = Leaf("taker", "c", Quota(2));
  taker.preemption.within_cohort = PreemptionPolicy::kAny;
  taker.preemption.while_borrowing = true;
  desk.Put(taker);
  desk.Put(Leaf("giver", "c", Quota(0)));
  desk.Wait(1, AskFor("giver", 1));
  desk.Run();
  desk.Wait(2, AskFor("owner", 1));
  desk.Wait(3, AskFor("taker", 3, 1));
  const PassResult result = desk.Run();
  CHECK(desk.Has(2));
  CHECK(result.evicted.empty());
}

namespace {

// Queues, gangs and victims that come and go at random.
struct RandomDesk {
  base::Random random;
  bool preempts;
  Desk desk;
  std::vector<std::string> leaves;
  std::map<uint32_t, model::GangAsk> asks;  // of all gangs that are there
  std::set<uint32_t> leaving;
  uint32_t next = 0;

  RandomDesk(uint64_t seed, bool with_preemption, bool fair)
      : random(seed), preempts(with_preemption), desk([&] {
          KueueRules rules;
          rules.fair_sharing = fair;
          return rules;
        }()) {
    const auto limit = [&] { return random.OneIn(2) ? std::optional<int64_t>() : random.Between(0, 4); };
    desk.admission.Put(Cohort("root", "", Quota(random.Between(0, 4))));
    desk.admission.Put(Cohort("low", "root", Quota(random.Between(0, 4), limit(), limit())));
    for (int i = 0; i < 5; ++i) {
      const std::string name = "q" + std::to_string(i);
      const int64_t nominal = random.Between(0, 8);
      model::LeafQueueSpec leaf = Leaf(name, random.OneIn(2) ? "root" : "low", Quota(nominal, limit(), limit()));
      if (preempts) {
        leaf.preemption.within_queue = PreemptionPolicy(random.Below(3));
        leaf.preemption.within_cohort = random.OneIn(2) ? PreemptionPolicy::kAny : PreemptionPolicy(random.Below(3));
        leaf.preemption.while_borrowing = random.OneIn(2);
        if (random.OneIn(2)) leaf.strategy = model::QueueingStrategy::kStrictFifo;
      }
      desk.Put(leaf);
      leaves.push_back(name);
    }
  }

  void Change() {
    if (random.OneIn(3) && !asks.empty()) {
      auto at = asks.begin();
      std::advance(at, random.Below(asks.size()));
      desk.Forget(at->first);
      leaving.erase(at->first);
      asks.erase(at);
    } else if (random.OneIn(2) && !leaving.empty()) {
      const uint32_t gang = *leaving.begin();
      leaving.erase(leaving.begin());
      desk.Forget(gang);
      desk.Wait(gang, asks.at(gang));
    } else {
      const int32_t priority = static_cast<int32_t>(random.Below(4));
      const uint32_t gang = next++;
      asks[gang] = AskFor(leaves[random.Below(leaves.size())], random.Between(1, 6), priority, gang);
      desk.Wait(gang, asks[gang]);
    }
  }

  void Run() {
    for (const auto& evicted : desk.Run().evicted) leaving.insert(evicted.gang.value);
    const ShareTree& shares = desk.admission.shares();
    const CellId cell = shares.cells().Find("f", "gpu");
    for (const std::string& leaf : leaves) CHECK(shares.Available(shares.Leaf(leaf), cell) >= 0);
    if (preempts) return;
    CHECK(leaving.empty());
    for (const auto& [gang, ask] : asks)
      if (!desk.Has(gang)) CHECK(ask.roles[0].count > shares.Available(shares.Leaf(ask.local_queue), cell));
  }
};

}  // namespace

TEST_CASE("kueue: whatever comes and goes, no queue has more than it may, and without preemption all that fit are in") {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    INFO("seed " << seed);
    RandomDesk desk(seed, seed % 3 != 0, seed % 2 == 0);
    for (int step = 0; step < 150; ++step) {
      desk.Change();
      if (desk.random.OneIn(2)) desk.Run();
    }
  }
}

}  // namespace tutti::queue
