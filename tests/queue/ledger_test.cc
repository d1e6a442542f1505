// SPDX-License-Identifier: Apache-2.0
#include "queue/ledger.h"

#include <map>

#include "base/random.h"
#include "tests/queue/build.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

// Queues root > mid > leaf, and beside.
struct Rig {
  QueueTree tree;
  Ledger ledger{tree};
  QueueId root = tree.Put(Spec("root")), mid = tree.Put(Spec("mid", "root")), leaf = tree.Put(Spec("leaf", "mid"));
  QueueId beside = tree.Put(Spec("beside", "root"));
  CellId gpu = tree.cells().Hold("", "gpu");

  Ask Gpus(int64_t count) { return Ask(tree.cells(), Gpu(count)); }
  int64_t Used(QueueId queue) const { return ledger.Used(queue, gpu); }
};

}  // namespace

TEST_CASE("a queue has used what is charged to it and to all below it, wherever it moves") {
  Rig rig;
  const ChargeId first = rig.ledger.Charge(rig.leaf, rig.Gpus(3));
  rig.ledger.Charge(rig.mid, rig.Gpus(10));
  CHECK(rig.Used(rig.leaf) == 3);
  CHECK(rig.Used(rig.mid) == 13);
  CHECK(rig.Used(rig.root) == 13);
  CHECK(rig.Used(rig.beside) == 0);

  rig.tree.Put(Spec("leaf", "beside"));
  CHECK(rig.Used(rig.mid) == 10);
  CHECK(rig.Used(rig.beside) == 3);
  CHECK(rig.Used(rig.root) == 13);
  rig.tree.Drop(Key("leaf"));  // its charge stays, and is its own
  CHECK(rig.Used(rig.beside) == 0);
  CHECK(rig.Used(rig.leaf) == 3);
  rig.ledger.Release(first);
  CHECK_FALSE(rig.tree.Find(Key("leaf")).valid());
  rig.ledger.Audit();
}

TEST_CASE("what is available is the least headroom on the way up") {
  Rig rig;
  CHECK(rig.ledger.Available(rig.leaf, rig.gpu) == kNoLimit);
  rig.ledger.SetLimit(rig.root, rig.gpu, 10);
  rig.ledger.SetLimit(rig.leaf, rig.gpu, 8);
  CHECK(rig.ledger.Available(rig.leaf, rig.gpu) == 8);
  rig.ledger.Charge(rig.beside, rig.Gpus(4));
  CHECK(rig.ledger.Available(rig.leaf, rig.gpu) == 6);
  CHECK(rig.ledger.Available(rig.beside, rig.gpu) == 6);
  rig.ledger.Charge(rig.leaf, rig.Gpus(7));
  CHECK(rig.ledger.Headroom(rig.root, rig.gpu) == -1);
  CHECK(rig.ledger.Available(rig.leaf, rig.gpu) == -1);
  rig.ledger.ClearLimits();
  CHECK(rig.ledger.Available(rig.leaf, rig.gpu) == kNoLimit);
}

TEST_CASE("what is limited is what some queue of the path limits") {
  QueueTree tree;
  tree.Put(Spec("root"));
  tree.Put(Spec("mid", "root"));
  const QueueId leaf = tree.Put(Spec("leaf", "mid")), mid = tree.Find(Key("mid"));
  Ledger ledger(tree);
  const CellId cpu = tree.cells().Hold({}, "cpu"), gpu = tree.cells().Hold({}, "gpu");
  ledger.SetLimit(tree.Find(Key("root")), gpu, 10);
  ledger.SetLimit(leaf, cpu, 4);
  CHECK(ledger.Limited(leaf) == std::vector<CellId>{cpu, gpu});
  CHECK(ledger.Limited(mid) == std::vector<CellId>{gpu});
  ledger.ClearLimits();
  CHECK(ledger.Limited(leaf).empty());
}

TEST_CASE("what a queue keeps is charged to it alone, and what goes beyond to those above it") {
  Rig rig;
  const ChargeId first = rig.ledger.Charge(rig.leaf, rig.Gpus(6));
  rig.ledger.SetKept(rig.leaf, rig.gpu, 4);
  CHECK(rig.Used(rig.leaf) == 6);
  CHECK(rig.Used(rig.mid) == 2);
  CHECK(rig.Used(rig.root) == 2);
  rig.ledger.SetKept(rig.mid, rig.gpu, 3);
  const ChargeId second = rig.ledger.Charge(rig.mid, rig.Gpus(2));
  CHECK(rig.Used(rig.mid) == 4);
  CHECK(rig.Used(rig.root) == 1);
  const Ledger::Mark mark = rig.ledger.Here();
  rig.ledger.Release(first);
  CHECK(rig.Used(rig.leaf) == 0);
  CHECK(rig.Used(rig.mid) == 2);
  CHECK(rig.Used(rig.root) == 0);
  rig.ledger.Rewind(mark);
  CHECK(rig.Used(rig.root) == 1);
  rig.ledger.Audit();
  rig.ledger.SetKept(rig.mid, rig.gpu, 0);
  CHECK(rig.Used(rig.root) == 4);
  rig.ledger.Release(second);
  rig.ledger.Release(first);
  CHECK(rig.Used(rig.root) == 0);
  rig.ledger.Audit();
}

TEST_CASE("sums beyond what can be counted stop there and come back exactly") {
  Rig rig;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::vector<ChargeId> charges;
  for (int i = 0; i < 1'000; ++i) charges.push_back(rig.ledger.Charge(rig.leaf, rig.Gpus(kMax)));
  rig.ledger.SetLimit(rig.root, rig.gpu, 5);
  CHECK(rig.Used(rig.root) == kMax);
  CHECK(rig.ledger.Headroom(rig.root, rig.gpu) == std::numeric_limits<int64_t>::min());
  rig.ledger.Charge(rig.leaf, rig.Gpus(2));
  rig.ledger.Charge(rig.leaf, Ask(rig.tree.cells(), Gpu(-7)));
  for (const ChargeId charge : charges) rig.ledger.Release(charge);
  CHECK(rig.Used(rig.root) == 2);
  CHECK(rig.ledger.Headroom(rig.root, rig.gpu) == 3);
}

TEST_CASE("a speculation is undone in reverse, or kept") {
  Rig rig;
  const ChargeId kept = rig.ledger.Charge(rig.leaf, rig.Gpus(3));
  const Ledger::Mark outer = rig.ledger.Here();
  rig.ledger.Release(kept);
  CHECK(rig.Used(rig.root) == 0);
  const Ledger::Mark inner = rig.ledger.Here();
  const ChargeId tried = rig.ledger.Charge(rig.beside, rig.Gpus(8));
  CHECK(rig.Used(rig.root) == 8);
  rig.ledger.Rewind(inner);
  CHECK(rig.Used(rig.root) == 0);
  CHECK(rig.ledger.Charge(rig.beside, rig.Gpus(1)) == tried);  // ids come again as well
  rig.ledger.Rewind(outer);
  CHECK(rig.Used(rig.leaf) == 3);
  CHECK(rig.Used(rig.beside) == 0);
  rig.ledger.Audit();

  const Ledger::Mark mark = rig.ledger.Here();
  rig.ledger.Release(kept);
  rig.ledger.Charge(rig.beside, rig.Gpus(1));
  rig.ledger.Keep(mark);
  CHECK(rig.Used(rig.root) == 1);
  rig.ledger.Audit();
}

TEST_CASE("a made-up resource leaves nothing behind, though a speculation released it") {
  Rig rig;
  const ChargeId odd = rig.ledger.Charge(rig.leaf, Ask(rig.tree.cells(), Of({{"example.com/x", 1}})));
  const Ledger::Mark mark = rig.ledger.Here();
  rig.ledger.Release(odd);
  const Ask other(rig.tree.cells(), Of({{"example.com/y", 5}}));  // not to have the cell of x
  rig.ledger.Rewind(mark);
  CHECK(rig.ledger.Used(rig.leaf, rig.tree.cells().Find("", "example.com/x")) == 1);
  CHECK(rig.ledger.Used(rig.leaf, rig.tree.cells().Find("", "example.com/y")) == 0);
  rig.ledger.Release(odd);
  CHECK_FALSE(rig.tree.cells().Find("", "example.com/x").valid());
}

namespace {

// The same, recomputed for each question.
struct Naive {
  std::map<std::string, std::string> parents;
  std::map<uint32_t, std::tuple<std::string, std::string, int64_t>> charges;  // by id: queue, resource, amount

  bool Below(std::string queue, const std::string& top) const {
    std::vector<std::string> path;
    const auto circular = [&](const std::string& name) {
      std::string at = name;
      for (size_t i = 0; i <= parents.size(); ++i) {
        const auto up = parents.find(at);
        if (up == parents.end() || up->second.empty()) return false;
        at = up->second;
        if (at == name) return true;
      }
      return false;
    };
    while (queue != top) {
      const auto up = parents.find(queue);
      if (up == parents.end() || up->second.empty() || circular(queue)) return false;
      queue = up->second;
    }
    return true;
  }
  int64_t Used(const std::string& top, const std::string& resource) const {
    int64_t sum = 0;
    for (const auto& [id, charge] : charges)
      if (std::get<1>(charge) == resource && Below(std::get<0>(charge), top)) sum += std::get<2>(charge);
    return sum;
  }
};

// One random walk over declarations, charges, releases and nested speculations.
class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_.Below(marks_.empty() ? 6 : 9)) {
      case 0: return Move();
      case 1: return Mark();
      case 2:
      case 3: return Release();
      case 6: return End();
      default: return Charge();
    }
  }
  void Finish() {
    while (!marks_.empty()) End();
    ledger_.Audit();
  }
  void Compare() {
    for (int i = 0; i < kQueues; ++i)
      for (const char* resource : kResources) {
        const QueueId id = tree_.Find(Key(Name(i)));
        const CellId cell = tree_.cells().Find("", resource);
        const int64_t used = id.valid() && cell.valid() ? ledger_.Used(id, cell) : 0;
        REQUIRE(used == naive_.Used(Name(i), resource));
      }
  }

 private:
  static constexpr int kQueues = 7;
  static constexpr const char* kResources[] = {"cpu", "gpu", "example.com/x"};
  static std::string Name(int64_t i) { return "q" + std::to_string(i); }
  std::string AnyName() { return Name(random_.Between(0, kQueues - 1)); }

  void Move() {
    const std::string name = AnyName(), parent = random_.OneIn(3) ? "" : AnyName();
    if (random_.OneIn(4)) {
      tree_.Drop(Key(name));
      naive_.parents.erase(name);
    } else {
      tree_.Put(Spec(name, parent));
      naive_.parents[name] = parent;
    }
  }
  void Charge() {
    const std::string name = AnyName();
    const char* resource = kResources[random_.Below(3)];
    const int64_t amount = random_.Between(1, 9);
    const QueueId id = tree_.Hold(Key(name));
    const ChargeId charge = ledger_.Charge(id, Ask(tree_.cells(), Of({{resource, amount}})));
    tree_.Release(id);
    REQUIRE(naive_.charges.emplace(charge.value, std::tuple(name, resource, amount)).second);
  }
  void Release() {
    if (naive_.charges.empty()) return;
    const auto at = std::next(naive_.charges.begin(), static_cast<long>(random_.Below(naive_.charges.size())));
    ledger_.Release(ChargeId(at->first));
    naive_.charges.erase(at);
  }
  void Mark() { marks_.emplace_back(ledger_.Here(), naive_.charges); }
  void End() {
    auto [mark, before] = std::move(marks_.back());
    marks_.pop_back();
    if (random_.OneIn(2)) return ledger_.Keep(mark);
    ledger_.Rewind(mark);
    naive_.charges = std::move(before);
  }

  base::Random random_;
  QueueTree tree_;
  Ledger ledger_{tree_};
  Naive naive_;
  std::vector<std::pair<Ledger::Mark, decltype(Naive::charges)>> marks_;
};

}  // namespace

TEST_CASE("random trees, charges, releases and rewinds come to what a recount comes to") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Walk walk(seed);
    for (int step = 0; step < 200; ++step) {
      walk.Step();
      walk.Compare();
    }
    walk.Finish();
    walk.Compare();
  }
}

}  // namespace tutti::queue
