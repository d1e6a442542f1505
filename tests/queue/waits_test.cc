// SPDX-License-Identifier: Apache-2.0
#include "queue/waits.h"

#include "queue/order.h"
#include "tests/queue/build.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

using model::GangId;

struct Rig {
  QueueTree tree;
  Ledger ledger{tree};
  Order order{tree};
  Waits waits{tree, ledger, order.ranks()};
  CellId gpu = tree.cells().Hold("", "gpu"), cpu = tree.cells().Hold("", "cpu");
  QueueId root = tree.Put(Spec("root"));

  Ask Asks(int64_t gpus, int64_t cpus = 0) { return Ask(tree.cells(), Of({{"gpu", gpus}, {"cpu", cpus}})); }
  QueueId Leaf(const std::string& name, int64_t gpus = kNoLimit) {
    const QueueId id = tree.Put(Spec(name, "root"));
    ledger.SetLimit(id, gpu, gpus);
    return id;
  }
  std::vector<uint32_t> Wake(QueueId queue, base::Millis now_ms = 0) {
    std::vector<uint32_t> ids;
    const CellId both[] = {gpu, cpu};
    for (const GangId gang : waits.Wake(queue, both, now_ms)) ids.push_back(gang.value);
    return ids;
  }
};

using Ids = std::vector<uint32_t>;

}  // namespace

TEST_CASE("a release wakes the gangs that it could satisfy together, in their order, and no others") {
  Rig rig;
  const QueueId a = rig.Leaf("a", 8), b = rig.Leaf("b", 8);
  rig.ledger.SetLimit(rig.root, rig.gpu, 10);
  const ChargeId in_a = rig.ledger.Charge(a, rig.Asks(6)), in_b = rig.ledger.Charge(b, rig.Asks(4));
  CHECK(rig.waits.Put(GangId(1), {a}, {0, 1}, rig.Asks(4)));  // its own queue is short
  CHECK(rig.waits.Put(GangId(2), {b}, {0, 2}, rig.Asks(2)));  // the root is short
  CHECK(rig.waits.Put(GangId(3), {b}, {0, 3}, rig.Asks(1)));
  CHECK_FALSE(rig.waits.Put(GangId(9), {b}, {0, 9}, rig.Asks(0, 5)));  // fits: it does not wait
  CHECK(rig.Wake(a).empty());
  CHECK(rig.waits.looked_at() == 0);

  rig.ledger.Release(in_b);
  CHECK(rig.Wake(b) == Ids{2, 3});  // four are free, and they ask for three
  CHECK(rig.waits.looked_at() == 2);
  rig.ledger.Release(in_a);
  CHECK(rig.Wake(a) == Ids{1});
  CHECK(rig.waits.size() == 0);
}

TEST_CASE("room that one cannot use is another's, and one that does not take its room gives way") {
  Rig rig;
  const QueueId a = rig.Leaf("a");
  rig.ledger.SetLimit(rig.root, rig.gpu, 4);
  const ChargeId all = rig.ledger.Charge(a, rig.Asks(4));
  rig.waits.Put(GangId(1), {a}, {9, 1}, rig.Asks(5));  // never fits
  rig.waits.Put(GangId(2), {a}, {5, 1}, rig.Asks(3));
  rig.waits.Put(GangId(3), {a}, {0, 1}, rig.Asks(2));
  rig.ledger.Release(all);
  CHECK(rig.Wake(a) == Ids{2});
  CHECK(rig.Wake(a) == Ids{3});  // the first has no node: called again, with the room still there
  CHECK(rig.Wake(a).empty());
  CHECK(rig.waits.size() == 1);
}

TEST_CASE("limits that rise anywhere wake those that have room together now") {
  Rig rig;
  const QueueId a = rig.Leaf("a", 1), b = rig.Leaf("b", 1);
  rig.ledger.SetLimit(rig.root, rig.gpu, 5);
  rig.waits.Put(GangId(1), {a}, {0, 1}, rig.Asks(3));
  rig.waits.Put(GangId(2), {b}, {0, 2}, rig.Asks(3));
  rig.waits.Put(GangId(3), {b}, {0, 3}, rig.Asks(2));
  CHECK(rig.waits.WakeAnywhere(0).empty());
  for (const QueueId queue : {a, b}) rig.ledger.SetLimit(queue, rig.gpu, 4);
  CHECK(rig.waits.WakeAnywhere(0) == std::vector{GangId(1), GangId(3)});
  rig.ledger.SetLimit(rig.root, rig.gpu, kNoLimit);
  CHECK(rig.waits.WakeAnywhere(0) == std::vector{GangId(2)});
}

TEST_CASE("a gang that is short of two resources wakes when it has both, whichever comes first") {
  for (const bool gpus_first : {false, true}) {
    Rig rig;
    const QueueId a = rig.Leaf("a", 4);
    rig.ledger.SetLimit(rig.root, rig.cpu, 10);
    const ChargeId gpus = rig.ledger.Charge(a, rig.Asks(4)), cpus = rig.ledger.Charge(a, rig.Asks(0, 10));
    rig.waits.Put(GangId(1), {a}, {}, rig.Asks(1, 1));
    rig.ledger.Release(gpus_first ? gpus : cpus);
    CHECK(rig.Wake(a).empty());
    rig.ledger.Release(gpus_first ? cpus : gpus);
    CHECK(rig.Wake(a) == Ids{1});
  }
}

TEST_CASE("between queues the smaller share is woken first, and a share that changes moves the turn") {
  Rig rig;
  const QueueId a = rig.Leaf("a"), b = rig.Leaf("b");
  rig.ledger.SetLimit(rig.root, rig.gpu, 2);
  const ChargeId first = rig.ledger.Charge(a, rig.Asks(1)), second = rig.ledger.Charge(b, rig.Asks(1));
  for (uint32_t i = 0; i < 2; ++i) {
    rig.waits.Put(GangId(10 + i), {a}, {0, i}, rig.Asks(1));
    rig.waits.Put(GangId(20 + i), {b}, {0, i}, rig.Asks(1));
  }
  const auto set = [&](QueueId queue, double share) {
    if (rig.order.SetRank(queue, {0, share})) rig.waits.Moved(queue);
  };
  set(a, 0.5);
  set(b, 0.25);
  rig.ledger.Release(first);
  CHECK(rig.Wake(a) == Ids{20});
  rig.ledger.Charge(b, rig.Asks(1));
  set(b, 0.75);
  rig.ledger.Release(second);
  CHECK(rig.Wake(b) == Ids{10});
}

TEST_CASE("with 50,000 gangs that wait in 1,000 queues a release looks at those it wakes alone") {
  Rig rig;
  rig.ledger.SetLimit(rig.root, rig.gpu, 4'000);
  std::vector<QueueId> queues;
  std::vector<ChargeId> charges;
  for (int i = 0; i < 1'000; ++i) {
    queues.push_back(rig.Leaf("q" + std::to_string(i), i % 2 == 0 ? 4 : kNoLimit));
    charges.push_back(rig.ledger.Charge(queues.back(), rig.Asks(4)));
  }
  for (uint32_t i = 0; i < 50'000; ++i) rig.waits.Put(GangId(i), {queues[i % 1'000]}, {0, i}, rig.Asks(4));
  for (int i = 0; i < 1'000; ++i) {
    rig.ledger.Release(charges[static_cast<size_t>(i)]);
    const Ids woken = rig.Wake(queues[static_cast<size_t>(i)]);
    REQUIRE(woken.size() == 1);
    rig.ledger.Charge(queues[woken[0] % 1'000], rig.Asks(4));
  }
  CHECK(rig.waits.size() == 49'000);
  CHECK(rig.waits.looked_at() < 2'000);
}

TEST_CASE("of gangs whose priorities rise the one is woken that is first by then") {
  for (const base::Millis now_ms : {9'000, 11'000}) {
    CAPTURE(now_ms);
    Rig rig;
    const QueueId a = rig.Leaf("a", 1);
    const ChargeId all = rig.ledger.Charge(a, rig.Asks(1));
    rig.waits.Put(GangId(1), {a}, {10, 0}, rig.Asks(1));
    rig.waits.Put(GangId(2), {a}, {0, 0, model::kSlopeUnit}, rig.Asks(1));  // 10 after 10 s
    rig.waits.Put(GangId(3), {a}, {0, 1, model::kSlopeUnit}, rig.Asks(1));
    rig.ledger.Release(all);
    const bool overtaken = now_ms > 10'000;
    CHECK(rig.Wake(a, now_ms) == (overtaken ? Ids{2} : Ids{1}));
    CHECK(rig.Wake(a, now_ms) == (overtaken ? Ids{3} : Ids{2}));
    CHECK(rig.Wake(a, now_ms) == (overtaken ? Ids{1} : Ids{3}));
    CHECK(rig.waits.size() == 0);
  }
}

TEST_CASE("a gang in several trees is woken when each has room for it") {
  for (const bool first_tree : {false, true}) {
    CAPTURE(first_tree);
    Rig rig;
    const QueueId a = rig.Leaf("a", 2), other = rig.tree.Put(Spec("other root"));
    const QueueId b = rig.tree.Put(Spec("b", "other root"));
    rig.ledger.SetLimit(other, rig.gpu, 3);
    const ChargeId in_a = rig.ledger.Charge(a, rig.Asks(2)), in_b = rig.ledger.Charge(b, rig.Asks(3));
    CHECK(rig.waits.Put(GangId(1), {a, b}, {}, rig.Asks(1)));
    rig.ledger.Release(first_tree ? in_a : in_b);
    CHECK(rig.Wake(first_tree ? a : b).empty());
    rig.ledger.Release(first_tree ? in_b : in_a);
    CHECK(rig.waits.Put(GangId(2), {b}, {}, rig.Asks(4)));
    CHECK(rig.Wake(first_tree ? b : a) == Ids{1});
    CHECK(rig.waits.Put(GangId(1), {a, b}, {}, rig.Asks(3)));
    CHECK(rig.waits.TakeBelow(other) == std::vector{GangId(1), GangId(2)});
    CHECK(rig.waits.size() == 0);
  }
}

TEST_CASE("what a gang in several trees is promised counts in each") {
  Rig rig;
  const QueueId a = rig.Leaf("a", 4), other = rig.tree.Put(Spec("other root"));
  rig.ledger.SetLimit(other, rig.gpu, 1);
  const ChargeId in_a = rig.ledger.Charge(a, rig.Asks(4)), in_other = rig.ledger.Charge(other, rig.Asks(1));
  rig.waits.Put(GangId(1), {a, other}, {0, 1}, rig.Asks(1));
  rig.waits.Put(GangId(2), {a, other}, {0, 2}, rig.Asks(1));
  rig.ledger.Release(in_other);
  rig.ledger.Release(in_a);
  CHECK(rig.Wake(a) == Ids{1});
}

TEST_CASE("a gang that waits in a queue that changes is taken out with those below it") {
  Rig rig;
  const QueueId a = rig.Leaf("a", 0), b = rig.Leaf("b", 0);
  const QueueId below = rig.tree.Put(Spec("below", "a"));
  rig.waits.Put(GangId(1), {a}, {}, rig.Asks(1));
  rig.waits.Put(GangId(2), {below}, {}, rig.Asks(1));
  rig.waits.Put(GangId(3), {b}, {}, rig.Asks(1));
  CHECK(rig.waits.TakeBelow(a) == std::vector{GangId(1), GangId(2)});
  CHECK(rig.waits.size() == 1);
  rig.waits.Erase(GangId(3));
  rig.waits.Erase(GangId(3));
  CHECK(rig.waits.size() == 0);
}

}  // namespace tutti::queue
