// SPDX-License-Identifier: Apache-2.0
// Gangs that leave for others and come back: whatever the queues say, they do not take turns without end.
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/queue/kueue_desk.h"
#include "tests/support/catch.h"

namespace tutti::queue {

namespace {

using model::PreemptionPolicy;

// Three leaves of one cohort with two flavors, and gangs of one pod that wait, by number.
struct World {
  Desk desk;
  std::map<uint32_t, model::GangAsk> asks;

  World(uint64_t seed, const KueueRules& rules) : desk(rules) {
    base::Random random(seed);
    model::Flavor flavor;
    flavor.name = "g";
    desk.admission.Put(flavor);
    constexpr PreemptionPolicy kWithin[] = {PreemptionPolicy::kNever, PreemptionPolicy::kLowerPriority,
                                            PreemptionPolicy::kLowerOrNewerEqualPriority};
    constexpr PreemptionPolicy kReclaim[] = {PreemptionPolicy::kNever, PreemptionPolicy::kLowerPriority,
                                             PreemptionPolicy::kAny};
    for (const char* name : {"a", "b", "c"}) {
      model::LeafQueueSpec leaf = Leaf(name, "all", {});
      leaf.groups = Gpus({{"f", Quota(random.Between(1, 6))}, {"g", Quota(random.Between(1, 6))}});
      leaf.preemption.within_queue = kWithin[random.Below(3)];
      leaf.preemption.within_cohort = kReclaim[random.Below(3)];
      leaf.preemption.while_borrowing = random.OneIn(2);
      desk.Put(leaf);
    }
    for (uint32_t gang = 1; gang <= 12; ++gang) {
      const std::string local(1, static_cast<char>('a' + random.Below(3)));
      asks[gang] = AskFor(local, random.Between(1, 4), static_cast<int32_t>(random.Between(0, 3)), gang);
      desk.Wait(gang, asks[gang]);
    }
  }

  // Those that have to leave wait again at once. Returns how often gangs left until none does.
  size_t RunOut(size_t most) {
    size_t left = 0;
    while (desk.admission.any() && left < most)
      for (const auto& evicted : desk.Run().evicted) {
        const uint32_t gang = evicted.gang.value;
        desk.Forget(gang);
        desk.Wait(gang, asks.at(gang));
        ++left;
      }
    return left;
  }
};

}  // namespace

TEST_CASE("kueue: gangs that leave for each other come to rest, whatever the queues say") {
  for (uint64_t seed = 1; seed <= 4'000; ++seed) {
    for (const bool fair : {false, true}) {
      CAPTURE(seed, fair);
      KueueRules rules;
      rules.fair_sharing = fair;
      REQUIRE(World(seed, rules).RunOut(2'000) < 2'000);
    }
  }
}

namespace {

model::LeafQueueSpec Reclaiming(const std::string& name, int64_t nominal, bool while_borrowing) {
  model::LeafQueueSpec leaf = Leaf(name, "all", Quota(nominal));
  leaf.preemption.within_cohort = PreemptionPolicy::kAny;
  leaf.preemption.while_borrowing = while_borrowing;
  return leaf;
}

// Lets it wait, and returns those that have to leave for it; they wait again.
std::vector<uint32_t> Come(Desk* desk, const std::map<uint32_t, model::GangAsk>& asks, uint32_t gang) {
  desk->Wait(gang, asks.at(gang));
  std::vector<uint32_t> left;
  for (const auto& evicted : desk->Run().evicted) left.push_back(evicted.gang.value);
  for (const uint32_t each : left) desk->Forget(each);
  for (const uint32_t each : left) desk->Wait(each, asks.at(each));
  return left;
}

}  // namespace

TEST_CASE("kueue: a gang that had to leave takes back what is its queue's once another gang is gone") {
  const bool ends = GENERATE(false, true);
  Desk desk;
  desk.Put(Reclaiming("own", 20, false));
  desk.Put(Leaf("other", "all", Quota(10)));
  desk.Put(Reclaiming("none", 0, true));
  const std::map<uint32_t, model::GangAsk> asks = {{1, AskFor("own", 10, 100, 1)},
                                                   {2, AskFor("own", 20, 0, 2)},
                                                   {3, AskFor("none", 10, 50, 3)},
                                                   {4, AskFor("other", 10, 0, 4)}};
  CHECK(Come(&desk, asks, 1).empty());
  CHECK(Come(&desk, asks, 2).empty());
  CHECK(Come(&desk, asks, 3) == std::vector<uint32_t>{2});
  CHECK(Come(&desk, asks, 4).empty());
  REQUIRE_FALSE(desk.Has(2));
  // It ends, or is stopped.
  if (!ends) desk.admission.Evict(model::GangId(1));
  desk.Forget(1);
  const PassResult result = desk.Run();
  REQUIRE(result.evicted.size() == 1);
  CHECK(result.evicted[0].gang == model::GangId(3));
}

TEST_CASE("kueue: a gang that had to leave takes back what is its queue's once a gang that comes borrows it") {
  Desk desk;
  model::LeafQueueSpec strict = Reclaiming("strict", 4, true);
  strict.strategy = model::QueueingStrategy::kStrictFifo;
  desk.Put(strict);
  desk.Put(Reclaiming("b", 4, false));
  desk.Put(Leaf("c", "all", Quota(4)));
  const std::map<uint32_t, model::GangAsk> asks = {{1, AskFor("strict", 4, 100, 1)},
                                                   {2, AskFor("c", 3, 0, 2)},
                                                   {3, AskFor("strict", 3, 10, 3)},
                                                   {4, AskFor("b", 4, 0, 4)},
                                                   {5, AskFor("b", 1, 50, 5)}};
  for (const uint32_t gang : {1u, 2u, 3u}) CHECK(Come(&desk, asks, gang).empty());
  CHECK(Come(&desk, asks, 4) == std::vector<uint32_t>{3});
  desk.Run();
  CHECK(desk.Has(4));
  CHECK_FALSE(desk.Has(3));
  CHECK(Come(&desk, asks, 5) == std::vector<uint32_t>{4});
  desk.Run();
  CHECK(desk.Has(3));
}

}  // namespace tutti::queue
