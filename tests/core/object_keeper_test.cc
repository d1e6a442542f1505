// SPDX-License-Identifier: Apache-2.0
#include "core/publish/object_keeper.h"

#include "base/random.h"
#include "tests/core/keeper_world.h"

namespace tutti::core {
namespace {

const KeeperWorld::Fate kRefused{.arrives = false, .said = cluster::Outcome::kRefused, .http_status = 422};

int PhaseOf(const KeeperWorld& world, const std::string& name) {
  const base::Json* object = world.Find(name);
  return object && object->contains("status") ? (*object)["status"].value("phase", 0) : 0;
}

// Wants `a` to have this phase.
std::function<KeeperWorld::Desired(const KeeperWorld&)> Phase(int phase) {
  return [phase](const KeeperWorld& world) { return KeeperWorld::Desired{world.Status("a", {{"phase", phase}})}; };
}

TEST_CASE("A merge agrees where it would change nothing") {
  const base::Json object = base::Json::parse(R"({"a":1,"b":{"c":"x","d":[1]},"e":0})");
  const auto agrees = [&](const char* fields) { return cluster::MergeAgrees(base::Json::parse(fields), object); };
  CHECK(agrees("{}"));
  CHECK(agrees(R"({"a":1,"b":{"d":[1]},"gone":null})"));
  CHECK_FALSE(agrees(R"({"a":2})"));
  CHECK_FALSE(agrees(R"({"b":{"d":[1,2]}})"));
  CHECK_FALSE(agrees(R"({"e":null})"));
  CHECK_FALSE(agrees(R"({"a":{"deeper":null}})"));
  CHECK_FALSE(agrees(R"({"new":{}})"));
}

TEST_CASE("What is desired is written once, and never when the object has it") {
  KeeperWorld world;
  world.Put("a", {{"status", {{"phase", 1}, {"theirs", true}}}});
  world.desire = Phase(1);
  world.State();
  world.Pass(600'000);
  CHECK(world.writes == 0);
  world.desire = Phase(2);
  world.feeds = false;
  for (int i = 0; i < 3; ++i) {
    world.State();
    world.Pass(1'000);
  }
  CHECK(world.writes == 1);
  world.feeds = true;
  world.Pass(600'000);
  CHECK(world.writes == 1);
  CHECK(*world.Find("a") == *world.Shown("a")->body);
  CHECK((*world.Find("a"))["status"] == base::Json{{"phase", 2}, {"theirs", true}});
}

TEST_CASE("What was written and is not seen yet is known to the code that desires, until the feed shows it") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.State();
  world.Settle();
  const cluster::ObjectRef ref = cluster::RefOf(world.Shown("a"));
  CHECK(world.keeper.Written(ref) == nullptr);
  world.feeds = false;
  world.desire = Phase(2);
  world.State();
  world.Settle();
  REQUIRE(world.keeper.Written(ref) != nullptr);
  CHECK((*world.keeper.Written(ref))["status"]["phase"] == 2);
  world.desire = Phase(1);  // as the feed still shows it
  world.State();
  world.Settle();
  CHECK(PhaseOf(world, "a") == 1);
  world.feeds = true;
  world.Settle();
  CHECK(world.keeper.Written(ref) == nullptr);
}

TEST_CASE("A reply is news to an owner that could not state what it desires before it") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.replies = false;
  world.State();
  world.Settle();
  SECTION("and to no other") {
    world.replies = true;
    world.Settle();
    CHECK(world.restated == 0);
  }
  SECTION("and is told once") {
    world.desire = Phase(2);
    world.State();
    world.Settle();
    CHECK(world.writes == 1);
    world.replies = true;
    world.Pass(600'000);
    CHECK(world.restated == 1);
    CHECK(world.writes == 2);
    CHECK(PhaseOf(world, "a") == 2);
  }
}

TEST_CASE("A write that fails is repeated after pauses, each twice as long as the one before, up to a minute") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  std::vector<base::Millis> at;
  world.fate = [&](const cluster::Command&) {
    at.push_back(world.clock.MonotonicMs() - 1'000'000);
    return at.size() == 3 ? KeeperWorld::Fate{.arrives = false, .said = cluster::Outcome::kUnknown} : kRefused;
  };
  world.State();
  world.Pass(200'000);
  CHECK(at == std::vector<base::Millis>{0, 5'000, 15'000, 35'000, 75'000, 135'000, 195'000});
  world.fate = [](const cluster::Command&) { return KeeperWorld::Fate(); };
  world.Pass(60'000);
  CHECK(PhaseOf(world, "a") == 1);
  world.fate = [](const cluster::Command&) { return kRefused; };
  world.desire = Phase(2);
  world.State();
  world.Settle();
  world.fate = [](const cluster::Command&) { return KeeperWorld::Fate(); };
  world.Pass(5'000);  // the first pause again
  CHECK(PhaseOf(world, "a") == 2);
}

TEST_CASE("A write that met a newer version is repeated when that is seen, but not without end at once") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = [](const KeeperWorld& w) {
    cluster::DesiredObject once = w.Status("a", {{"phase", 1}});
    once.ref.resource_version = w.Shown("a")->meta.resource_version;
    return KeeperWorld::Desired{once};
  };
  world.Settle();
  world.feeds = false;
  world.Put("a", {{"spec", 1}});
  world.State();
  world.Settle();
  CHECK(world.writes == 1);
  CHECK(PhaseOf(world, "a") == 0);
  world.feeds = true;
  world.Settle();
  CHECK(world.writes == 2);
  CHECK(PhaseOf(world, "a") == 1);

  int versions = 0;
  world.fate = [&](const cluster::Command&) {  // another writer is always faster
    world.Put("a", {{"spec", ++versions}});
    return KeeperWorld::Fate();
  };
  world.Put("a", base::Json::object());
  world.writes = 0;
  world.Pass(60'000);
  CHECK(world.writes >= 4);
  CHECK(world.writes <= 8);
}

TEST_CASE("What others undo is written again at once, and ever more slowly when they go on") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.State();
  world.Settle();
  world.writes = 0;
  world.Put("a", {{"status", {{"phase", 7}}}});
  world.Settle();
  CHECK(PhaseOf(world, "a") == 1);
  CHECK(world.writes == 1);
  for (int i = 0; i < 6'000; ++i) {
    if (PhaseOf(world, "a") == 1) world.Put("a", {{"status", {{"phase", 7}}}});
    world.Pass(100);
  }
  CHECK(world.writes >= 10);
  CHECK(world.writes <= 20);
  world.Pass(600'000);
  CHECK(PhaseOf(world, "a") == 1);
  world.Put("a", {{"status", {{"phase", 7}}}});
  world.Settle();
  CHECK(PhaseOf(world, "a") == 1);  // they had been calm
}

TEST_CASE("Another client that undoes each write before it can be seen is answered ever more slowly, too") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.Settle();
  world.feeds = false;
  world.State();
  for (int i = 0; i < 6'000; ++i) {
    world.Pass(100);
    if (PhaseOf(world, "a") != 1) continue;
    world.Put("a", {{"status", {{"phase", 7}}}});
    world.ShowLatest();
  }
  CHECK(world.writes >= 15);
  CHECK(world.writes <= 30);
}

TEST_CASE("The echoes of its own earlier writes keep no new one waiting") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.Settle();
  world.feeds = false;
  for (int phase = 1; phase <= 100; ++phase) {
    world.desire = Phase(phase);
    world.State();
    world.Settle();
    CHECK(PhaseOf(world, "a") == phase);
    if (phase > 4) world.ShowNext();  // four versions late
    world.Settle();
    world.clock.Advance(100);
  }
}

TEST_CASE("What was written to an object counts for no other of its name") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.State();
  world.Settle();
  world.feeds = false;
  world.desire = Phase(2);
  world.State();
  world.Settle();
  world.Remove("a");
  world.Put("a", base::Json::object());
  world.feeds = true;
  world.Settle();
  world.State();  // as its dialect is told that the object is another
  world.Settle();
  CHECK(PhaseOf(world, "a") == 2);
}

TEST_CASE("Objects are created one after the other, each with the owner that was there before it") {
  KeeperWorld world;
  const auto desire = [](const KeeperWorld& w) {
    KeeperWorld::Desired desired{w.Exists("a", {{"spec", "first"}})};
    if (const auto a = w.Known("a")) {
      desired.push_back(w.Exists("b", {{"spec", "second"}, {"owner", a->meta.uid}}));
      if (w.Known("b")) desired.push_back(w.Status("c", {{"phase", 3}}));
    }
    return desired;
  };
  world.desire = desire;
  world.Put("c", base::Json::object());
  world.Settle();
  world.feeds = false;  // replies alone say what was created
  world.State();
  world.Settle();
  REQUIRE(world.Find("a"));
  REQUIRE(world.Find("b"));
  CHECK((*world.Find("b"))["owner"] == (*world.Find("a"))["metadata"]["uid"]);
  CHECK(PhaseOf(world, "c") == 3);
  CHECK(world.writes == 3);
  world.feeds = true;
  world.Pass(600'000);
  CHECK(world.writes == 3);
  SECTION("what others change in it stays, and what they delete is created again") {
    world.Put("a", {{"spec", "otherwise"}});
    world.Pass(60'000);
    CHECK(world.writes == 3);
    world.Remove("b");
    world.Pass(60'000);
    CHECK(world.writes == 4);
    CHECK(world.Find("b"));
  }
  SECTION("one that is there under the name is not created") {
    world.desire = [&](const KeeperWorld& w) {
      KeeperWorld::Desired desired = desire(w);
      desired.push_back(w.Exists("d", base::Json::object()));
      return desired;
    };
    world.feeds = false;
    world.Put("d", {{"spec", "theirs"}});
    world.State();
    world.Settle();
    CHECK(world.writes == 4);  // and was refused
    world.feeds = true;
    world.Pass(600'000);
    CHECK(world.writes == 4);
    CHECK((*world.Find("d"))["spec"] == "theirs");
  }
}

TEST_CASE("An object is deleted once, by its UID, and what is gone already is well") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.Settle();
  world.desire = [](const KeeperWorld& w) { return KeeperWorld::Desired{w.Gone("a"), w.Gone("never-there")}; };
  SECTION("it goes") {
    world.State();
    world.Pass(60'000);
    CHECK_FALSE(world.Find("a"));
    CHECK(world.writes == 1);
  }
  SECTION("it lingers, for it has another's finalizer") {
    world.fate = [&](const cluster::Command&) {
      world.Put("a", {{"metadata", {{"deletionTimestamp", 1}}}});
      return KeeperWorld::Fate{.arrives = false};
    };
    world.State();
    world.Pass(600'000);
    CHECK(world.writes == 1);
  }
  SECTION("it is gone before the write arrives") {
    world.feeds = false;
    world.Remove("a");
    world.State();
    world.Pass(600'000);
    CHECK(world.writes == 1);
    CHECK_FALSE(world.keeper.Owes(world.subject));
  }
  SECTION("another one of its name is deleted, too, when it is seen") {
    world.feeds = false;
    world.Remove("a");
    world.Put("a", {{"spec", "another"}});
    world.State();
    world.Settle();
    CHECK(world.Find("a"));
    world.feeds = true;
    world.Pass(60'000);
    CHECK_FALSE(world.Find("a"));
  }
}

TEST_CASE("What may be there of a controller is deleted by one write, and again only if that was not done") {
  KeeperWorld world;
  const cluster::DesiredObject gone{
      .ref = KeeperWorld::Ref("a"), .mode = cluster::DesiredObject::Mode::kGone, .controller = "u-owner"};
  std::vector<std::string> controllers;
  int failures = 0;
  world.fate = [&](const cluster::Command& command) {
    controllers.push_back(std::get<cluster::Delete>(command.body).controller);
    return failures-- > 0 ? kRefused : KeeperWorld::Fate{};
  };
  world.desire = [&](const KeeperWorld& w) {
    const bool done = w.keeper.Written(gone.ref) != nullptr;
    return done ? KeeperWorld::Desired{} : KeeperWorld::Desired{gone};
  };
  SECTION("done") {}
  SECTION("refused at first") { failures = 1; }
  const size_t writes = static_cast<size_t>(failures) + 1;
  world.State();
  world.Pass(60'000);
  CHECK(controllers == std::vector<std::string>(writes, "u-owner"));
  CHECK_FALSE(world.keeper.Owes(world.subject));
}

TEST_CASE("What only tells something is written a second later, behind others, and with what came until then") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.Settle();
  std::vector<cluster::Lane> lanes;
  world.fate = [&](const cluster::Command& command) {
    lanes.push_back(command.lane);
    return KeeperWorld::Fate{};
  };
  world.lane = cluster::Lane::kBind;
  const auto tell = [&](int phase, bool tells) {
    world.desire = [phase, tells](const KeeperWorld& w) {
      KeeperWorld::Desired all{w.Status("a", {{"phase", phase}})};
      all.front().tells = tells;
      return all;
    };
    world.State();
  };
  tell(1, true);
  world.Pass(500);
  tell(2, true);
  world.Pass(499);
  CHECK(lanes.empty());
  SECTION("a second is over") {
    world.Pass(1);
    CHECK(PhaseOf(world, "a") == 2);
    world.Pass(60'000);
    CHECK(lanes == std::vector{cluster::Lane::kStatus});
  }
  SECTION("what is desired now is waited for, and what the object has is not written") {
    tell(3, false);
    world.Settle();
    CHECK(PhaseOf(world, "a") == 3);
    CHECK(lanes == std::vector{cluster::Lane::kBind});
    tell(3, true);
    world.Pass(60'000);
    CHECK(lanes.size() == 1);
  }
}

TEST_CASE("What is not desired any more is forgotten when what was written is seen") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.Put("b", base::Json::object());
  world.desire = [](const KeeperWorld& w) {
    return KeeperWorld::Desired{w.Status("a", {{"phase", 1}}), w.Status("b", {{"phase", 1}})};
  };
  world.Settle();
  world.feeds = world.replies = false;
  world.State();
  world.Settle();
  CHECK(world.keeper.count() == 2);
  world.keeper.Drop(world.subject);
  CHECK(world.keeper.count() == 2);
  CHECK(world.keeper.AwaitsReply(world.subject));
  world.replies = true;
  world.desire = [](const KeeperWorld&) { return KeeperWorld::Desired(); };
  world.Settle();
  CHECK(world.keeper.Written(cluster::RefOf(world.Shown("a"))) != nullptr);
  world.feeds = true;
  world.Settle();
  CHECK(world.keeper.count() == 0);
  world.Put("a", {{"status", {{"phase", 9}}}});
  world.Pass(60'000);
  CHECK(world.writes == 2);
}

TEST_CASE("A new term as leader knows nothing of the last one, nor of its replies") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.Settle();
  world.feeds = world.replies = false;
  world.fate = [](const cluster::Command&) { return kRefused; };
  world.State();
  world.Settle();
  world.keeper.StartTerm();
  CHECK(world.keeper.count() == 0);
  world.fate = [](const cluster::Command&) { return KeeperWorld::Fate(); };
  world.replies = true;
  world.Settle();
  CHECK(world.keeper.count() == 0);
  world.State();
  world.Settle();
  CHECK(PhaseOf(world, "a") == 1);
}

TEST_CASE("An object that another subject desires is left to that one") {
  KeeperWorld world;
  world.Put("a", base::Json::object());
  world.desire = Phase(1);
  world.State();
  world.Settle();
  const ObjectKeeper::Subject other{&world, {"test", "ns", "other"}};
  world.keeper.Want(other, cluster::Lane::kStatus, {world.Status("a", {{"phase", 2}})});
  world.outbox.Flush(world);
  CHECK(world.writes == 1);
  world.keeper.Drop(world.subject);
  world.keeper.Want(other, cluster::Lane::kStatus, {world.Status("a", {{"phase", 2}})});
  world.outbox.Flush(world);
  CHECK(world.writes == 2);
}

TEST_CASE("What one subject created or deleted is another's to create, though the feed never shows that kind") {
  KeeperWorld world;
  world.feeds = false;
  world.desire = [](const KeeperWorld& w) { return KeeperWorld::Desired{w.Exists("a", {{"spec", 1}})}; };
  world.State();
  world.Settle();
  REQUIRE(world.Find("a"));
  SECTION("it was deleted") {
    world.desire = [](const KeeperWorld& w) { return KeeperWorld::Desired{w.Gone("a")}; };
    world.State();
    world.Settle();
    REQUIRE_FALSE(world.Find("a"));
  }
  SECTION("it went with the first subject") { world.Remove("a"); }
  world.desire = [](const KeeperWorld&) { return KeeperWorld::Desired(); };
  world.keeper.Drop(world.subject);
  CHECK(world.keeper.count() == 0);
  const ObjectKeeper::Subject other{&world, {"test", "ns", "other"}};
  world.keeper.Want(other, cluster::Lane::kStatus, {world.Exists("a", {{"spec", 2}})});
  world.outbox.Flush(world);
  REQUIRE(world.Find("a"));
  CHECK((*world.Find("a"))["spec"] == 2);
}

// Desires three objects: the second when the first is there, and a status of the third that changes.
class Adversary {
 public:
  explicit Adversary(uint64_t seed) : random_(seed) {
    world_.desire = [this](const KeeperWorld& w) {
      if (gone_) return KeeperWorld::Desired{w.Gone("a"), w.Gone("b"), w.Status("c", {{"phase", phase_}})};
      KeeperWorld::Desired desired{w.Exists("a", {{"spec", 1}}), w.Status("c", {{"phase", phase_}})};
      if (w.Known("a")) desired.push_back(w.Exists("b", {{"spec", 2}}));
      return desired;
    };
    world_.fate = [this](const cluster::Command&) { return Fate(); };
    world_.Put("c", base::Json::object());
    world_.feeds = world_.replies = false;
  }

  void Run() {
    for (int step = 0; step < 200; ++step) {
      Act();
      world_.clock.Advance(random_.Between(0, 3'000));
      while (world_.Step()) {
      }
    }
    calm_ = true;
    world_.feeds = world_.replies = true;
    world_.Pass(300'000);
    for (const char* name : {"a", "b"}) CHECK((world_.Find(name) == nullptr) == gone_);
    CHECK(PhaseOf(world_, "c") == phase_);
    CHECK_FALSE(world_.keeper.Owes(world_.subject));
    const int writes = world_.writes;
    world_.Pass(3'600'000);
    CHECK(world_.writes == writes);
    world_.keeper.Drop(world_.subject);
    CHECK(world_.keeper.count() == 0);
  }

 private:
  KeeperWorld::Fate Fate() {
    if (calm_ || random_.OneIn(2)) return {};
    const bool unknown = random_.OneIn(2);
    return {.arrives = unknown && random_.OneIn(2),
            .said = unknown ? cluster::Outcome::kUnknown : cluster::Outcome::kRefused,
            .http_status = unknown ? 0 : static_cast<int>(random_.Between(409, 422))};
  }
  void Act() {
    const std::string name(1, static_cast<char>('a' + random_.Below(3)));
    switch (random_.Below(8)) {
      case 0: phase_ = static_cast<int>(random_.Between(1, 3)); return world_.State();
      case 1: gone_ = random_.OneIn(2); return world_.State();
      case 2: return world_.Put(name, {{"status", {{"phase", random_.Between(1, 3)}}}});
      case 3:
        if (name != "c") world_.Remove(name);
        return;
      case 4: return world_.State();
      case 5: world_.ReplyNext(); return;
      default: world_.ShowNext(); return;
    }
  }

  base::Random random_;
  KeeperWorld world_;
  bool calm_ = false, gone_ = false;
  int phase_ = 1;
};

TEST_CASE(
    "Whatever becomes of its writes, and whatever others write, the cluster comes to be as desired, and then rests") {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Adversary(seed).Run();
  }
}

}  // namespace
}  // namespace tutti::core
