// SPDX-License-Identifier: Apache-2.0
#include "queue/order.h"

#include <algorithm>
#include <map>

#include "base/random.h"
#include "tests/queue/build.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

using model::GangId;

std::vector<uint32_t> TakeAll(Order& order) {
  std::vector<uint32_t> ids;
  while (const auto gang = order.First()) {
    ids.push_back(gang->value);
    order.Erase(*gang);
  }
  return ids;
}

}  // namespace

TEST_CASE("of ready gangs the turn is that of the queue with the smallest share, then of priority and age") {
  QueueTree tree;
  tree.Put(Spec("root"));
  const QueueId a = tree.Put(Spec("a", "root")), b = tree.Put(Spec("b", "root")), urgent = tree.Put(Spec("u", "root"));
  const QueueId other = tree.Put(Spec("another root"));
  Order order(tree);
  order.Put(GangId(1), a, {0, 100});
  order.Put(GangId(2), a, {0, 50});
  order.Put(GangId(3), a, {5, 900});
  order.Put(GangId(4), b, {0, 10});
  order.Put(GangId(5), urgent, {0, 999});
  order.Put(GangId(6), other, {0, 999});
  order.SetRank(a, {0, 0.25});
  order.SetRank(b, {0, 0.5});
  order.SetRank(urgent, {1, 0.9});
  order.SetRank(other, {0, 0.1});
  CHECK(order.size() == 6);
  CHECK(*order.First() == GangId(5));
  order.Erase(GangId(5));
  CHECK(*order.First() == GangId(3));
  order.SetRank(a, {0, 0.75});  // a charge moves it
  CHECK(*order.First() == GangId(4));
  order.SetRank(tree.Find(Key("root")), {0, 0.2});
  CHECK(*order.First() == GangId(6));
  CHECK(TakeAll(order) == std::vector<uint32_t>{6, 4, 3, 2, 1});
  CHECK_FALSE(order.First().has_value());
}

TEST_CASE("a gang of a queue that has moved can still be taken out of its line") {
  QueueTree tree;
  tree.Put(Spec("root"));
  const QueueId a = tree.Put(Spec("a", "root"));
  tree.Put(Spec("b", "root"));
  Order order(tree);
  order.Put(GangId(1), a, {});
  tree.Put(Spec("a", "b"));
  CHECK(TakeAll(order) == std::vector<uint32_t>{1});
  order.Put(GangId(1), a, {});
  CHECK(*order.First() == GangId(1));
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

}  // namespace tutti::queue
