// SPDX-License-Identifier: Apache-2.0
#include "queue/order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/random.h"
#include "tests/queue/build.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

using model::GangId;

using Band = Order::Band;

std::vector<uint32_t> TakeAll(Tournament& gangs) {
  std::vector<uint32_t> ids;
  while (const auto gang = gangs.First(0, 0)) {
    ids.push_back(gang->value);
    gangs.Erase(*gang);
  }
  return ids;
}

}  // namespace

TEST_CASE("the turn is that of the queue of the highest priority, then of the smallest share") {
  QueueTree tree;
  tree.Put(Spec("root"));
  const QueueId a = tree.Put(Spec("a", "root")), b = tree.Put(Spec("b", "root")), urgent = tree.Put(Spec("u", "root"));
  const QueueId other = tree.Put(Spec("another root"));
  Order order(tree);
  for (const QueueId queue : {a, b, urgent, other}) order.Put(queue, Band::kFirst);
  order.SetRank(a, {0, 0.25});
  order.SetRank(b, {0, 0.5});
  order.SetRank(urgent, {1, 0.9});
  order.SetRank(other, {0, 0.1});
  CHECK(order.size(Band::kFirst) == 4);
  CHECK(order.First(Band::kFirst) == urgent);
  CHECK_FALSE(order.First(Band::kSecond).has_value());
  order.Erase(urgent, Band::kFirst);
  CHECK(order.First(Band::kFirst) == a);
  order.Put(b, Band::kSecond);
  order.SetRank(a, {0, 0.75});  // a charge moves it
  CHECK(order.First(Band::kFirst) == b);
  CHECK(order.First(Band::kSecond) == b);
  order.SetRank(tree.Find(Key("root")), {0, 0.2});
  for (const QueueId queue : {other, b, a}) {
    CHECK(order.First(Band::kFirst) == queue);
    order.Erase(queue, Band::kFirst);
  }
  CHECK_FALSE(order.First(Band::kFirst).has_value());
}

TEST_CASE("in a queue gangs stand by priority, then age") {
  QueueTree tree;
  const QueueId a = tree.Put(Spec("a"));
  const QueueRanks ranks;
  Tournament gangs(tree, ranks);
  gangs.Put(GangId(1), a, {0, 100}, 0);
  gangs.Put(GangId(2), a, {0, 50}, 0);
  gangs.Put(GangId(3), a, {5, 900}, 0);
  CHECK(TakeAll(gangs) == std::vector<uint32_t>{3, 2, 1});
}

TEST_CASE("a gang of a queue that has moved can still be taken out of its line") {
  QueueTree tree;
  tree.Put(Spec("root"));
  const QueueId a = tree.Put(Spec("a", "root"));
  tree.Put(Spec("b", "root"));
  const QueueRanks ranks;
  Tournament gangs(tree, ranks);
  gangs.Put(GangId(1), a, {}, 0);
  tree.Put(Spec("a", "b"));
  CHECK(TakeAll(gangs) == std::vector<uint32_t>{1});
  gangs.Put(GangId(1), a, {}, 0);
  CHECK(*gangs.First(0, 0) == GangId(1));
}

TEST_CASE("of random items the first that fits is found, as by looking through all") {
  base::Random random(7);
  FirstFit items;
  std::map<uint32_t, std::pair<Rank, int64_t>> all;
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint32_t>(random.Below(200));
    if (random.OneIn(3)) {
      items.Erase(id);
      all.erase(id);
    } else {
      const Rank rank{random.Between(0, 1), static_cast<double>(random.Between(0, 3)) / 4, random.Between(0, 9), id};
      const int64_t need = random.Between(0, 50);
      items.Put(rank, need);
      all[id] = {rank, need};
    }
    const int64_t budget = random.Between(0, 50);
    const Rank* first = nullptr;
    for (const auto& [key, item] : all)
      if (item.second <= budget && (!first || item.first < *first)) first = &item.first;
    const auto found = items.First(budget);
    REQUIRE(found.has_value() == (first != nullptr));
    if (first) REQUIRE(*found == first->id);
    REQUIRE(items.size() == all.size());
  }
}

TEST_CASE("the first gang by a priority that rises is the one that a look at all of them finds, at any time") {
  RisingFit gangs;
  base::Random random(7);
  struct Known {
    model::GangRank rank;
    int64_t need = 0;
  };
  std::map<uint32_t, Known> all;
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint32_t>(random.Below(100));
    if (random.OneIn(3)) {
      gangs.Erase(GangId(id));
      all.erase(id);
    } else {
      const auto slope = static_cast<int32_t>(random.Between(-1, 2)) * model::kSlopeUnit / 2;
      const GangRank rank{static_cast<int32_t>(random.Between(-3, 3)), random.Between(0, 9) * 1'000, slope};
      const int64_t need = random.Between(0, 50);
      gangs.Put(GangId(id), rank, need);
      all[id] = {rank, need};
    }
    const int64_t budget = random.Between(0, 50);
    const base::Millis now_ms = random.Between(9, 40) * 1'000;
    const auto key = [&](uint32_t of) {
      const GangRank& rank = all.at(of).rank;
      return std::tuple(-rank.PriorityAt(now_ms), rank.created_ms, of);
    };
    std::optional<uint32_t> first;
    for (const auto& [other, known] : all)
      if (known.need <= budget && (!first || key(other) < key(*first))) first = other;
    const auto found = gangs.First(budget, now_ms);
    REQUIRE(found.has_value() == first.has_value());
    if (first) REQUIRE(found->value == *first);
    REQUIRE(gangs.empty() == all.empty());
  }
}

}  // namespace tutti::queue
