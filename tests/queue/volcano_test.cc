// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "base/random.h"
#include "queue/policies/volcano_capacity.h"
#include "queue/policies/volcano_proportion.h"
#include "queue/policies/water_fill.h"
#include "tests/queue/build.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

using Amounts = model::ResourceList;
constexpr int64_t kGi = int64_t{1} << 30;

Amounts CpuAndMemory(int64_t cpu, int64_t gi) { return Of({{"cpu", cpu * 1'000}, {"memory", gi * kGi}}); }

// Queues under one policy, charged by name.
template <class Rules>
struct Rig {
  QueueTree tree;
  Ledger used{tree}, pending{tree};
  std::unique_ptr<Rules> rules;

  Rig() {
    if constexpr (std::is_same_v<Rules, VolcanoProportion>)
      rules = std::make_unique<Rules>(tree, used, pending);
    else
      rules = std::make_unique<Rules>(tree, used);
  }
  Ask Asks(const Amounts& amounts) { return Ask(tree.cells(), amounts); }
  QueueId Id(const std::string& name) { return tree.Find(Key(name)); }
  void Use(const std::string& name, const Amounts& amounts) { used.Charge(Id(name), Asks(amounts)); }
  void Wait(const std::string& name, const Amounts& amounts) { pending.Charge(Id(name), Asks(amounts)); }
  int64_t Deserved(const std::string& name, const char* resource) {
    return rules->Deserved(Id(name), tree.cells().Find({}, resource));
  }
  int64_t Capability(const std::string& name, const char* resource) {
    return rules->RealCapability(Id(name), tree.cells().Find({}, resource));
  }
  bool MayTake(const std::string& taker, const Amounts& ask, const std::string& giver, const Amounts& given) {
    return rules->MayTakeFrom(Id(taker), Asks(ask), Id(giver), Asks(given));
  }
  bool Admits(const std::string& name, const Amounts& ask) { return rules->Admit(Id(name), Asks(ask)).admitted(); }
};

model::QueueSpec Weighted(const std::string& name, int64_t weight, const std::string& parent = {}) {
  model::QueueSpec spec = Spec(name, parent);
  spec.weight = weight;
  return spec;
}

model::QueueSpec Deserving(const std::string& name, const Amounts& deserved, const Amounts& capability = {}) {
  model::QueueSpec spec = Spec(name);
  spec.deserved = deserved;
  spec.capability = capability;
  return spec;
}

}  // namespace

TEST_CASE("proportion: what a queue does not ask for is shared among the others by weight") {
  Rig<VolcanoProportion> rig;
  rig.tree.Put(Weighted("a", 3));
  rig.tree.Put(Weighted("b", 1));
  rig.tree.Put(Weighted("c", 1));
  rig.Wait("a", Of({{"cpu", 2'000}}));
  rig.Wait("b", Of({{"cpu", 10'000}}));
  rig.Wait("c", Of({{"cpu", 10'000}}));
  rig.rules->Renew(Of({{"cpu", 10'000}}));
  CHECK(rig.Deserved("a", "cpu") == 2'000);
  CHECK(rig.Deserved("b", "cpu") == 4'000);
  CHECK(rig.Deserved("c", "cpu") == 4'000);
  CHECK(rig.Admits("b", Of({{"cpu", 4'000}})));
  CHECK_FALSE(rig.Admits("b", Of({{"cpu", 4'001}})));
}

TEST_CASE("proportion: each resource comes to its own limit") {
  Rig<VolcanoProportion> rig;
  rig.tree.Put(Weighted("a", 1));
  rig.tree.Put(Weighted("b", 1));
  rig.Wait("a", CpuAndMemory(10, 4));
  rig.Wait("b", CpuAndMemory(4, 20));
  rig.rules->Renew(CpuAndMemory(12, 24));
  CHECK(rig.Deserved("a", "cpu") == 8'000);
  CHECK(rig.Deserved("b", "cpu") == 4'000);
  CHECK(rig.Deserved("a", "memory") == 4 * kGi);
  CHECK(rig.Deserved("b", "memory") == 20 * kGi);
}

TEST_CASE("proportion: two full queues of weight 1 and 3 have shares 1 to 3, below a parent too") {
  Rig<VolcanoProportion> rig;
  rig.tree.Put(Weighted("root", 1));
  rig.tree.Put(Weighted("one", 1, "root"));
  rig.tree.Put(Weighted("three", 3, "root"));
  rig.Use("one", Gpu(1));
  rig.Use("three", Gpu(6));
  rig.Wait("one", Gpu(100));
  rig.Wait("three", Gpu(100));
  rig.rules->Renew(Gpu(16));
  CHECK(rig.Deserved("one", "gpu") == 4);
  CHECK(rig.Deserved("three", "gpu") == 12);
  CHECK(rig.rules->Share(rig.Id("one")) == 0.25);
  CHECK(rig.rules->Share(rig.Id("three")) == 0.5);
}

TEST_CASE(
    "proportion: a queue takes up to what it deserves, and only what it asks for of what another has too much of") {
  Rig<VolcanoProportion> rig;
  rig.tree.Put(Weighted("taker", 1));
  rig.tree.Put(Weighted("giver", 1));
  rig.Use("giver", Of({{"gpu", 8}, {"cpu", 2}}));
  rig.Use("taker", Of({{"cpu", 2}}));
  rig.Wait("taker", Of({{"gpu", 8}, {"cpu", 2}}));
  rig.rules->Renew(Of({{"gpu", 8}, {"cpu", 8}}));
  CHECK(rig.MayTake("taker", Gpu(4), "giver", Gpu(8)));
  CHECK_FALSE(rig.MayTake("taker", Gpu(5), "giver", Gpu(8)));  // it deserves four
  CHECK_FALSE(rig.MayTake("taker", Gpu(4), "giver", Of({{"cpu", 2}})));
  CHECK_FALSE(rig.MayTake("taker", Of({{"cpu", 2}}), "giver", Of({{"cpu", 2}, {"gpu", 8}})));  // it has cpu enough
  rig.Use("taker", Gpu(4));
  CHECK_FALSE(rig.MayTake("taker", Gpu(1), "giver", Gpu(1)));
}

TEST_CASE("proportion: a guarantee is a floor, and others can use no more than what it leaves") {
  Rig<VolcanoProportion> rig;
  model::QueueSpec safe = Weighted("safe", 1);
  safe.guarantee = Gpu(6);
  rig.tree.Put(safe);
  rig.tree.Put(Weighted("other", 9));
  rig.Wait("other", Gpu(10));
  rig.rules->Renew(Gpu(10));
  CHECK(rig.Deserved("safe", "gpu") == 6);
  CHECK(rig.Deserved("other", "gpu") == 4);
  CHECK(rig.Capability("other", "gpu") == 4);
  CHECK(rig.Capability("safe", "gpu") == 10);
}

TEST_CASE("proportion: where a queue shares with none, its own capability limits it, and the nodes say what lacks") {
  Rig<VolcanoProportion> rig;
  rig.tree.Put(Weighted("root", 1));
  rig.tree.Put(Weighted("a", 1, "root"));
  model::QueueSpec capped = Weighted("b", 1, "root");
  capped.capability = Gpu(9);
  rig.tree.Put(capped);
  rig.Wait("a", Gpu(12));
  rig.rules->Renew(Gpu(10));
  CHECK(rig.Deserved("a", "gpu") == 10);
  CHECK(rig.Admits("a", Gpu(12)));
  CHECK_FALSE(rig.Admits("b", Gpu(12)));
  rig.Wait("b", Gpu(5));
  rig.rules->Renew(Gpu(10));
  CHECK_FALSE(rig.Admits("a", Gpu(6)));
  CHECK(rig.Admits("a", Gpu(5)));
  CHECK(rig.Admits("b", Gpu(5)));
}

// What upstream's tables of its capacity plugin say, and a few between them.
TEST_CASE("capacity: which queue may have room, and which may take it from which") {
  struct Case {
    std::string name;
    Amounts total;
    std::vector<model::QueueSpec> queues;  // the first one asks
    Amounts first_uses, second_uses, ask, given;
    bool admitted, taken;
  };
  const Amounts none = Of({{"cpu", 0}, {"memory", 0}});
  Amounts two_and_card = CpuAndMemory(2, 4), cluster = CpuAndMemory(4, 8);
  two_and_card.Set("nvidia.com/A100", 10);
  cluster.Set("nvidia.com/A100", 20);
  const Amounts card = Of({{"nvidia.com/A100", 10}}), cards = Of({{"nvidia.com/A100", 20}});
  const Case cases[] = {
      {"below its capability",
       CpuAndMemory(4, 8),
       {Deserving("a", {}, CpuAndMemory(2, 2))},
       CpuAndMemory(1, 1),
       {},
       CpuAndMemory(1, 1),
       {},
       true,
       false},
      {"above its capability",
       CpuAndMemory(4, 8),
       {Deserving("a", {}, Of({{"cpu", 1'500}, {"memory", kGi + kGi / 2}}))},
       CpuAndMemory(1, 1),
       {},
       CpuAndMemory(1, 1),
       {},
       false,
       false},
      {"takes back what it deserves",
       CpuAndMemory(4, 8),
       {Deserving("a", CpuAndMemory(2, 4)), Deserving("b", CpuAndMemory(2, 4))},
       {},
       CpuAndMemory(4, 8),
       CpuAndMemory(2, 4),
       CpuAndMemory(2, 4),
       true,
       true},
      {"other resources are over, not the one it asks for",
       cluster,
       {Deserving("a", two_and_card), Deserving("b", two_and_card)},
       CpuAndMemory(4, 8),
       cards,
       card,
       card,
       true,
       true},
      {"comes to what it deserves in one resource",
       CpuAndMemory(2, 4),
       {Deserving("a", CpuAndMemory(2, 2), CpuAndMemory(4, 4)), Deserving("b", none, CpuAndMemory(2, 2))},
       CpuAndMemory(1, 3),
       CpuAndMemory(1, 1),
       CpuAndMemory(1, 1),
       CpuAndMemory(1, 1),
       true,
       true},
      {"would be over in each resource",
       CpuAndMemory(2, 4),
       {Deserving("a", CpuAndMemory(1, 2), CpuAndMemory(4, 4)), Deserving("b", none, CpuAndMemory(2, 2))},
       CpuAndMemory(1, 1),
       CpuAndMemory(1, 1),
       CpuAndMemory(1, 2),
       CpuAndMemory(1, 1),
       true,
       false},
      {"the other has no more than it deserves",
       CpuAndMemory(4, 8),
       {Deserving("a", CpuAndMemory(2, 4)), Deserving("b", CpuAndMemory(2, 4))},
       {},
       CpuAndMemory(2, 4),
       CpuAndMemory(2, 4),
       CpuAndMemory(2, 4),
       true,
       false},
      {"the other has none of what it asks for",
       cluster,
       {Deserving("a", two_and_card), Deserving("b", {})},
       {},
       CpuAndMemory(4, 8),
       card,
       CpuAndMemory(4, 8),
       true,
       false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Rig<VolcanoCapacity> rig;
    for (const model::QueueSpec& spec : c.queues) rig.tree.Put(spec);
    rig.Use("a", c.first_uses);
    if (c.queues.size() > 1) rig.Use("b", c.second_uses);
    rig.rules->Renew(c.total);
    CHECK(rig.Admits("a", c.ask) == c.admitted);
    if (c.queues.size() > 1) CHECK(rig.MayTake("a", c.ask, "b", c.given) == c.taken);
  }
}

TEST_CASE("capacity: real capability is what the guarantees of others leave, level by level") {
  Rig<VolcanoCapacity> rig;
  model::QueueSpec a = Spec("a", "root"), b = Spec("b", "root"), a1 = Spec("a1", "a"), a2 = Spec("a2", "a");
  a.capability = Gpu(12);
  a1.guarantee = Gpu(3);
  a1.deserved = Gpu(5);
  b.guarantee = Gpu(6);
  rig.tree.Put(Spec("root"));
  for (const auto& spec : {a, b, a1, a2}) rig.tree.Put(spec);
  rig.rules->Renew(Gpu(16));
  CHECK(rig.Capability("root", "gpu") == 16);
  CHECK(rig.Capability("b", "gpu") == 13);  // 16 less a's 3
  CHECK(rig.Capability("a", "gpu") == 10);  // 16 less b's 6, below its cap
  CHECK(rig.Capability("a1", "gpu") == 10);
  CHECK(rig.Capability("a2", "gpu") == 7);
  CHECK(rig.Deserved("a", "gpu") == 5);  // what those below it deserve
  CHECK(rig.Deserved("b", "gpu") == 6);
  CHECK(rig.Deserved("root", "gpu") == 11);
  CHECK(rig.Admits("a2", Gpu(7)));
  rig.Use("a1", Gpu(9));
  const AdmitAnswer answer = rig.rules->Admit(rig.Id("a2"), rig.Asks(Gpu(2)));
  REQUIRE(answer.shortages.size() == 1);  // a has 10 in all
  CHECK(answer.shortages[0].queue == rig.Id("a"));
  CHECK(answer.shortages[0].limit == 10);
  CHECK(answer.shortages[0].used == 9);
}

TEST_CASE("capacity: with ancestor levels what is above the two queues counts as well") {
  for (const int levels : {0, 1}) {
    CAPTURE(levels);
    QueueTree tree;
    Ledger used(tree);
    VolcanoCapacity rules(tree, used, levels);
    tree.Put(Spec("root"));
    for (const auto& [name, parent, deserved] :
         {std::tuple("a", "root", 8), {"b", "root", 8}, {"a1", "a", 0}, {"b1", "b", 2}, {"b2", "b", 6}}) {
      model::QueueSpec spec = Spec(name, parent);
      spec.deserved = Gpu(deserved);
      tree.Put(spec);
    }
    used.Charge(tree.Find(Key("b1")), Ask(tree.cells(), Gpu(6)));
    rules.Renew(Gpu(16));
    const Ask four(tree.cells(), Gpu(4));
    // a1 deserves nothing itself, but a does; b1 has more than it deserves, but b has not.
    CHECK_FALSE(rules.MayTakeFrom(tree.Find(Key("a1")), four, tree.Find(Key("b1")), four));
    used.Charge(tree.Find(Key("b2")), Ask(tree.cells(), Gpu(6)));
    CHECK(rules.MayTakeFrom(tree.Find(Key("a1")), four, tree.Find(Key("b1")), four) == (levels == 1));
  }
}

TEST_CASE("no queue takes from one that is not reclaimable, from itself, or below a guarantee") {
  Rig<VolcanoCapacity> capacity;
  Rig<VolcanoProportion> proportion;
  const auto check = [](auto& rig) {
    model::QueueSpec kept = Deserving("kept", Gpu(0)), safe = Deserving("safe", Gpu(3));
    kept.reclaimable = false;
    safe.guarantee = Gpu(3);
    rig.tree.Put(Deserving("taker", Gpu(6)));
    rig.tree.Put(kept);
    rig.tree.Put(safe);
    rig.Use("kept", Gpu(6));
    rig.Use("safe", Gpu(6));
    rig.Wait("taker", Gpu(3));
    rig.rules->Renew(Gpu(12));
    CHECK_FALSE(rig.MayTake("taker", Gpu(2), "kept", Gpu(2)));
    CHECK_FALSE(rig.MayTake("safe", Gpu(1), "safe", Gpu(1)));
    CHECK(rig.MayTake("taker", Gpu(2), "safe", Gpu(3)));
    CHECK_FALSE(rig.MayTake("taker", Gpu(2), "safe", Gpu(4)));
    model::QueueSpec closed = Deserving("taker", Gpu(6));
    closed.state = model::QueueState::kClosing;
    rig.tree.Put(closed);
    rig.rules->Renew(Gpu(12));
    CHECK_FALSE(rig.MayTake("taker", Gpu(2), "safe", Gpu(3)));
    CHECK(rig.rules->Admit(rig.Id("taker"), {}).problem ==
          "queue \"taker\" is not open; it starts nothing until it is");
  };
  check(capacity);
  check(proportion);
}

TEST_CASE("guarantees that the cluster cannot keep are said on those that have less, and the others keep theirs") {
  Rig<VolcanoCapacity> rig;
  for (const char* name : {"a", "b", "c"}) {
    model::QueueSpec spec = Spec(name);
    if (*name != 'c') spec.guarantee = Gpu(6);
    rig.tree.Put(spec);
  }
  rig.rules->Renew(Gpu(8));
  CHECK(rig.rules->Remark(rig.Id("a")).empty());
  CHECK(rig.rules->Remark(rig.Id("b")) ==
        "queue \"b\": guarantee of gpu is 6, but only 2 of it can be kept, for guarantees sum to more than there is; "
        "lower some");
  CHECK(rig.rules->Remark(rig.Id("c")).empty());
  CHECK(rig.Capability("a", "gpu") == 6);
  CHECK(rig.Capability("b", "gpu") == 2);
  CHECK(rig.Capability("c", "gpu") == 0);
  rig.rules->Renew(Gpu(12));
  CHECK(rig.rules->Remark(rig.Id("b")).empty());
}

TEST_CASE("a queue with a problem has what it uses, and the others share the rest") {
  Rig<VolcanoProportion> rig;
  rig.tree.Put(Weighted("wrong", -5));
  rig.tree.Put(Weighted("a", 1));
  rig.tree.Put(Weighted("b", 1));
  rig.Use("wrong", Gpu(2));
  for (const char* name : {"wrong", "a", "b"}) rig.Wait(name, Gpu(20));
  rig.rules->Renew(Gpu(12));
  CHECK(rig.Deserved("wrong", "gpu") == 2);
  CHECK(rig.Deserved("a", "gpu") == 5);
  CHECK(rig.Deserved("b", "gpu") == 5);
  CHECK(rig.rules->Admit(rig.Id("wrong"), rig.Asks(Gpu(1))).problem ==
        "queue \"wrong\": weight is -5; write a whole number from 1 to 65535");
  CHECK(rig.Admits("a", Gpu(5)));
}

namespace {

// Rounds as upstream has them, of one resource, until little is left: each that wants more has its weight's part.
std::vector<double> Rounds(double total, const std::vector<Claim>& claims) {
  std::vector<double> out(claims.size(), 0);
  double rest = total;
  for (int round = 0; round < 100'000 && rest > 1e-9; ++round) {
    double weight = 0, given = 0;
    for (size_t i = 0; i < claims.size(); ++i)
      if (out[i] < static_cast<double>(claims[i].most)) weight += static_cast<double>(claims[i].weight);
    if (weight == 0) break;
    for (size_t i = 0; i < claims.size(); ++i) {
      const double most = static_cast<double>(claims[i].most);
      if (out[i] >= most) continue;
      const double now = std::min(most, out[i] + rest * static_cast<double>(claims[i].weight) / weight);
      given += now - out[i];
      out[i] = now;
    }
    rest -= given;
  }
  return out;
}

}  // namespace

TEST_CASE("shares sum to what there is, are max-min fair, and are the limit of upstream's rounds") {
  base::Random random(11);
  for (int i = 0; i < 3'000; ++i) {
    const bool floors = random.OneIn(2);
    std::vector<Claim> claims(static_cast<size_t>(random.Between(1, 8)));
    for (Claim& claim : claims)
      claim = {random.Between(1, 5), floors && random.OneIn(2) ? random.Between(0, 20) : 0, random.Between(0, 60)};
    const int64_t total = random.Between(0, 200);
    const std::vector<int64_t> shares = WaterFill(total, claims);
    int64_t sum = 0, most = 0, least = 0;
    for (size_t k = 0; k < claims.size(); ++k) {
      sum += shares[k];
      most += std::max(claims[k].floor, claims[k].most);
      least += claims[k].floor;
      REQUIRE(shares[k] >= claims[k].floor);
      REQUIRE(shares[k] <= std::max(claims[k].floor, claims[k].most));
    }
    REQUIRE(sum == std::max(least, std::min(total, most)));
    // A claim that could have more has at least the level, to a unit, of each that is above its floor.
    for (size_t a = 0; a < claims.size(); ++a)
      for (size_t b = 0; b < claims.size(); ++b)
        if (shares[a] < claims[a].most && shares[b] > claims[b].floor)
          REQUIRE((shares[a] + 1) * claims[b].weight >= (shares[b] - 1) * claims[a].weight);
    if (floors) continue;
    const std::vector<double> rounds = Rounds(static_cast<double>(total), claims);
    for (size_t k = 0; k < claims.size(); ++k) REQUIRE(std::abs(rounds[k] - static_cast<double>(shares[k])) < 1.001);
  }
}

TEST_CASE("amounts at the end of what can be counted are divided as others are") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Claim claims[] = {{65'535, 0, kMax}, {65'535, 0, kMax}, {1, 0, kMax}, {1, 7, 3}};
  const std::vector<int64_t> shares = WaterFill(kMax, claims);
  CHECK(shares[3] == 7);
  CHECK(shares[0] - shares[1] <= 1);
  CHECK(shares[0] + shares[1] + shares[2] == kMax - 7);
  CHECK(WaterFill(0, claims) == std::vector<int64_t>{0, 0, 0, 7});
  CHECK(WaterFill(10, {}).empty());
}

namespace {

// Gangs that start and take from each other on nodes that have `total`, until none can do anything more.
template <class Rules>
class Contest {
 public:
  explicit Contest(uint64_t seed) : random_(seed) {
    const auto queues = random_.Between(2, 5);
    for (int i = 0; i < queues; ++i) {
      model::QueueSpec spec = Weighted("q" + std::to_string(i), random_.Between(1, 4));
      if (random_.OneIn(3)) spec.guarantee = Of({{"cpu", random_.Between(1, 4)}});
      if (kDeclares)
        for (const char* resource : {"cpu", "gpu"})
          if (random_.OneIn(2)) spec.deserved.Set(resource, random_.Between(0, 8));
      rig_.tree.Put(spec);
    }
    for (int i = 0; i < 30; ++i) {
      const std::string queue = "q" + std::to_string(random_.Between(0, queues - 1));
      const auto some = [this] { return random_.OneIn(2) ? random_.Between(1, 6) : 0; };
      const int64_t cpu = some(), gpu = some();
      gangs_.push_back({rig_.Id(queue), Of({{"cpu", cpu}, {"gpu", cpu + gpu > 0 ? gpu : 1}}), {}});
      gangs_.back().charge = rig_.pending.Charge(gangs_.back().queue, rig_.Asks(gangs_.back().ask));
      if (random_.OneIn(2)) Start(gangs_.back());  // as it was before there were rules
    }
    rig_.rules->Renew(kTotal);
  }

  void Run() {
    for (int round = 0; round < 400; ++round) {
      bool changed = false;
      for (Gang& gang : gangs_) changed = (!gang.runs && Try(gang)) || changed;
      if (!changed) return;
    }
    FAIL("they take from each other without end");
  }

 private:
  struct Gang {
    QueueId queue;
    Amounts ask;
    ChargeId charge;
    bool runs = false;
  };
  const Amounts kTotal = Of({{"cpu", 20}, {"gpu", 20}});

  void Start(Gang& gang) {
    rig_.pending.Release(gang.charge);
    gang.charge = rig_.used.Charge(gang.queue, rig_.Asks(gang.ask));
    gang.runs = true;
  }
  void Stop(Gang& gang) {
    rig_.used.Release(gang.charge);
    gang.charge = rig_.pending.Charge(gang.queue, rig_.Asks(gang.ask));
    gang.runs = false;
  }
  bool HasNodes(const Amounts& ask) const {
    Amounts sum = ask;
    for (const Gang& gang : gangs_)
      if (gang.runs) sum.AddAll(gang.ask);
    return sum.Get("cpu") <= 20 && sum.Get("gpu") <= 20;
  }
  // What all queues have above what they deserve: it lessens with each taking, and never grows.
  int64_t Excess() {
    int64_t sum = 0;
    for (const QueueId queue : rig_.tree.Roots())
      for (const char* resource : {"cpu", "gpu"}) {
        const CellId cell = rig_.tree.cells().Find({}, resource);
        sum += std::max<int64_t>(0, rig_.used.Used(queue, cell) - rig_.rules->Deserved(queue, cell));
      }
    return sum;
  }
  bool Try(Gang& gang) {
    const Ask ask = rig_.Asks(gang.ask);
    if (!rig_.rules->Admit(gang.queue, ask).admitted()) return false;
    std::vector<Gang*> stopped;
    for (Gang& other : gangs_) {
      if (HasNodes(gang.ask)) break;
      if (!other.runs || !rig_.rules->MayTakeFrom(gang.queue, ask, other.queue, rig_.Asks(other.ask))) continue;
      const int64_t before = Excess();
      Stop(other);
      if (!kDeclares) REQUIRE(Excess() < before);
      stopped.push_back(&other);
    }
    if (!HasNodes(gang.ask)) {  // no eviction is useless
      for (Gang* other : stopped) Start(*other);
      return false;
    }
    const int64_t before = Excess();
    Start(gang);
    if (!kDeclares) REQUIRE(Excess() <= before);
    return true;
  }

  static constexpr bool kDeclares = std::is_same_v<Rules, VolcanoCapacity>;  // what each queue deserves

  base::Random random_;
  Rig<Rules> rig_;
  std::vector<Gang> gangs_;
};

}  // namespace

TEST_CASE("under proportion queues never take from each other in turns") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Contest<VolcanoProportion>(seed).Run();
  }
}

TEST_CASE("a root that is alone shares with no other") {
  Rig<VolcanoProportion> rig;
  for (const char* name : {"t1", "t2"}) {
    model::QueueSpec tree = Weighted(name, 1);
    tree.alone = true;
    rig.tree.Put(tree);
  }
  rig.tree.Put(Weighted("a", 1));
  rig.tree.Put(Weighted("b", 1));
  for (const char* name : {"t1", "t2", "a", "b"}) rig.Wait(name, Of({{"cpu", 10'000}}));
  rig.rules->Renew(Of({{"cpu", 10'000}}));
  CHECK(rig.Deserved("t1", "cpu") == 10'000);
  CHECK(rig.Deserved("t2", "cpu") == 10'000);
  CHECK(rig.Deserved("a", "cpu") == 5'000);
  CHECK(rig.Deserved("b", "cpu") == 5'000);
}

TEST_CASE("under capacity queues never take from each other in turns") {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Contest<VolcanoCapacity>(seed).Run();
  }
}

}  // namespace tutti::queue
