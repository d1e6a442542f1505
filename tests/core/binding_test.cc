// SPDX-License-Identifier: Apache-2.0
// From a gang's first bind to its last: refused, lost, late and seen late; members, nodes and schedulers that go
// meanwhile; what is finished and what is undone.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("A member whose bind is refused is placed elsewhere, and no other member is disturbed") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddNode("n2", 4);
  rig.RefuseBindsTo("n1");
  rig.AddGang("g", 4, 4);
  rig.Pass(5'000);
  CHECK(rig.Bound() == 4);
  for (int i = 0; i < 4; ++i) CHECK(rig.NodeOf(fmt::format("g-{}", i)) == "n2");
}

TEST_CASE("A member whose binds are refused wherever it goes is not sent to one node after another") {
  Rig rig;
  for (int i = 0; i < 100; ++i) rig.AddNode(fmt::format("n{}", i), 4);
  int binds = 0;
  rig.fate = [&binds](const cluster::Command& command) {
    return std::holds_alternative<cluster::Bind>(command.body) ? ++binds, Refused() : sim::Fate{};
  };
  rig.AddPod("a", {});
  rig.Pass(60'000);
  CHECK(binds >= 9);
  CHECK(binds <= 30);
  CHECK_THAT(rig.Waits("a"), Catch::Contains("was refused: no"));
  rig.fate = nullptr;
  rig.Pass(10'000);
  CHECK(rig.Bound() == 1);
}

TEST_CASE("A lost reply keeps its reservation, and the bind is found to have happened") {
  Rig rig;
  rig.AddNode("n1", 2);
  int lost = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Bind>(command.body) && lost++ == 0)
      return sim::Fate{.kind = sim::Fate::Kind::kLoseReply};
    return sim::Fate{};
  };
  rig.AddGang("g", 2, 2);
  rig.Pass(30'000);
  CHECK(rig.Bound() == 2);
}

TEST_CASE("A node deleted while a gang is being bound: whole elsewhere, or whole again") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.AddGang("g", 4, 4);
  while (rig.Bound() == 0) rig.Step();
  rig.DeleteNode("n1");
  rig.AddNode("n3", 4);
  rig.Settle();
  // The members bound to n1 were deleted; their controller would recreate them.
  int missing = 0;
  for (int i = 0; i < 4; ++i) missing += rig.NodeOf(fmt::format("g-{}", i)) == "<gone>";
  for (int i = 0; i < missing; ++i) rig.AddPod(fmt::format("g-new-{}", i), {.gang = "g", .min = "4"});
  rig.Pass(5'000);
  CHECK(rig.Bound() == 4);
  for (const sim::Object& pod : rig.store.All(sim::kPods)) CHECK(sim::DigString(*pod, "spec", "nodeName") != "n1");
}

TEST_CASE("A node that goes and comes back while a bind to it is unanswered: the member stays, and holds its room") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddPod("p", {.cpu = "2"});
  rig.fate = [&](const cluster::Command& command) {
    return sim::Fate{.reply_delay_ms = std::holds_alternative<cluster::Bind>(command.body) ? 2'000 : 0};
  };
  rig.Step();
  rig.feed->BreakWatch("pods");  // nor is the bound pod seen
  rig.Settle();
  REQUIRE(rig.NodeOf("p") == "n1");
  rig.DeleteNode("n1");
  rig.Settle();
  const bool answer_first = GENERATE(false, true);
  if (answer_first) {  // in the same batch, and nothing is decided in between
    rig.clock.Advance(2'000);
    rig.writer->PumpAnswers();
  }
  rig.AddNode("n1", 2);
  rig.Pass(10'000);
  CHECK(rig.NodeOf("p") == "n1");
  rig.fate = nullptr;
  rig.feed->MendWatch("pods");
  rig.AddPod("q", {.cpu = "2"});
  rig.Settle();
  CHECK(rig.NodeOf("p") == "n1");
  CHECK(rig.NodeOf("q").empty());
}

TEST_CASE("While pods are not seen, one that a bind's answer says is gone, or bound, is not bound again") {
  Rig rig;
  const bool lone = GENERATE(true, false), gone = GENERATE(true, false);
  rig.AddNode("elsewhere", 0);
  if (lone)
    rig.AddPod("p-0", {.cpu = "2"});
  else
    rig.AddGang("p", 2, 2, 0);
  rig.Settle();
  rig.feed->BreakWatch("pods");
  if (gone)
    rig.Delete("p-0");
  else
    REQUIRE(rig.store.Bind({{"metadata", {{"name", "p-0"}, {"namespace", "default"}}},
                            {"target", {{"kind", "Node"}, {"name", "elsewhere"}}}}));
  int binds = 0;
  rig.fate = [&](const cluster::Command& command) {
    binds += std::holds_alternative<cluster::Bind>(command.body);
    return sim::Fate{};
  };
  rig.AddNode("n1", 4);
  for (int i = 0; i < 40; ++i) rig.Step();
  CHECK(binds <= 2);
  rig.Pass(60'000);
  CHECK(binds <= 2);
  rig.feed->MendWatch("pods");
  rig.AddPod("q", {.cpu = "4"});
  rig.Pass(60'000);
  CHECK(rig.NodeOf(lone || gone ? "q" : "p-1") == "n1");
}

// The bind of p, of gang a, to the only node is lost.
struct FirstBindLost : Rig {
  FirstBindLost() {
    fate = [this](const cluster::Command& command) {
      const bool first = std::holds_alternative<cluster::Bind>(command.body) && ++binds == 1;
      return sim::Fate{.kind = first ? sim::Fate::Kind::kDrop : sim::Fate::Kind::kDeliver};
    };
    AddNode("n1", 2);
    AddPod("p", {.gang = "a", .min = "1", .cpu = "2"});
    Settle();
    REQUIRE(binds == 1);
  }
  int binds = 0;
};

TEST_CASE("A pod that is named into another gang while its bind is on its way joins that one when the fate is known") {
  FirstBindLost rig;
  REQUIRE(
      rig.store.Modify(sim::kPods, "default", "p", [](sim::Json& pod) { pod["metadata"]["labels"]["gang"] = "b"; }));
  rig.AddPod("q", {.gang = "c", .min = "1", .cpu = "2"});
  rig.Pass(5'000);
  CHECK(rig.binds == 1);  // nor is its room given away
  rig.Pass(30'000);
  CHECK(rig.binds == 3);  // the second, as the first was, comes too late
  CHECK(rig.NodeOf("p") == "n1");
  CHECK(rig.NodeOf("q").empty());
  const std::vector<observe::Decision> decisions = rig.scheduler->Decisions();
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].gang.name == "b");
  CHECK(decisions[0].state == dialects::GangState::kWhole);
}

TEST_CASE("A bind that was lost is not repeated for a gang that its pod has left, whose next one cannot start") {
  FirstBindLost rig;
  REQUIRE(rig.store.Modify(sim::kPods, "default", "p", [](sim::Json& pod) {
    pod["metadata"]["labels"]["gang"] = "b";
    pod["metadata"]["annotations"]["min"] = "3";
  }));
  rig.Pass(60'000);
  CHECK(rig.NodeOf("p").empty());
  CHECK(rig.Waits("p").find("it needs 3 members") != std::string::npos);
}

// The last bind of a gang of three takes effect, with `fate`, and pods are not seen from then on. Who was bound last.
std::string BindGangUnseen(Rig& rig, const sim::Fate& fate) {
  std::string commit;
  int binds = 0;
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (!bind || ++binds < 3) return sim::Fate{};
    commit = bind->pod.name();
    rig.feed->BreakWatch("pods");
    return fate;
  };
  rig.AddGang("g", 3, 3);
  while (commit.empty()) rig.Step();
  rig.fate = nullptr;
  return commit;
}

TEST_CASE("A member that is on its way out when its bind is refused leaves its room to the pod that replaces it") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddGang("g", 2, 2);
  REQUIRE(rig.store.Modify(sim::kPods, "default", "g-0",
                           [](sim::Json& pod) { pod["metadata"]["finalizers"] = {"test.tutti.dev/job"}; }));
  int binds = 0;
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (bind && bind->pod.name() == "g-0" && ++binds == 1) rig.Delete("g-0");  // while the bind is on its way
    return sim::Fate{};
  };
  rig.Settle();
  rig.AddPod("g-2", {.gang = "g", .min = "2"});
  rig.Pass(3'000);
  CHECK(rig.NodeOf("g-0").empty());
  CHECK(rig.NodeOf("g-1") == "n1");
  CHECK(rig.NodeOf("g-2") == "n1");
  CHECK(binds == 1);
}

TEST_CASE("A commit member that a stale list had left out is known again, and its gang stays whole") {
  for (const sim::Fate& fate : {sim::Fate{.reply_delay_ms = 3'000}, sim::Fate{.kind = sim::Fate::Kind::kLoseReply}}) {
    Rig rig;
    rig.AddNode("n1", 3);
    const std::string commit = BindGangUnseen(rig, fate);
    const std::string lost = commit == "g-0" ? "g-1" : "g-0", other = commit == "g-2" ? "g-1" : "g-2";
    for (const std::string& name : {commit, lost})
      rig.Post(cluster::PodGone{"default", name, sim::UidOf(*rig.store.Find(sim::kPods, "default", name))});
    rig.Settle();
    rig.Delete(lost);
    for (const char* name : {"a-0", "a-1"}) rig.AddPod(name, {.cpu = "0"});  // they come where those two were held
    rig.Settle();
    rig.feed->MendWatch("pods");
    rig.Pass(600'000);
    CHECK(rig.NodeOf(commit) == "n1");
    CHECK(rig.NodeOf(other) == "n1");
  }
}

TEST_CASE("A pod whose successor came and went with it is gone too") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddPod("p", {});
  rig.AddPod("q", {});
  rig.Settle();
  const std::string first = rig.NodeOf("p") == "n1" ? "p" : "q", second = first == "p" ? "q" : "p";
  rig.feed->BreakWatch("pods");
  rig.Delete(first);
  rig.Post(cluster::PodGone{"default", first, "of-the-successor"});  // what a mailbox makes of gone, come and gone
  rig.Settle();
  CHECK(rig.NodeOf(second) == "n1");
}

TEST_CASE("A commit member that was bound and went before its answer came has made its gang whole") {
  Rig rig;
  rig.AddNode("n1", 3);
  const std::string commit = BindGangUnseen(rig, {.reply_delay_ms = 3'000});
  REQUIRE(rig.NodeOf(commit) == "n1");
  rig.Post(cluster::PodGone{"default", commit, sim::UidOf(*rig.store.Find(sim::kPods, "default", commit))});
  rig.Delete(commit);
  rig.Settle();
  rig.feed->MendWatch("pods");
  rig.Pass(600'000);
  CHECK(rig.Bound() == 2);
}

TEST_CASE("The member that the bound ones name as the last is not left out for another") {
  Rig rig;
  rig.AddNode("n1", 3);
  rig.AddNode("n2", 3);
  std::string first, there;
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (!bind || !first.empty()) return sim::Fate{};
    first = bind->pod.name(), there = bind->node;
    return sim::Fate{.reply_delay_ms = 1'000};
  };
  for (const char* name : {"a", "b"}) rig.AddPod(name, {.gang = "g", .min = "2", .cpu = "2"});
  while (first.empty()) rig.Step();
  rig.DeleteNode(there == "n1" ? "n2" : "n1");  // where the last was to go
  rig.AddPod("small", {.gang = "g", .min = "2"});
  rig.Pass(5'000);
  CHECK(rig.NodeOf(first) == there);
  CHECK(rig.NodeOf("small").empty());
  rig.AddNode("n3", 3);
  rig.Settle();
  CHECK(rig.NodeOf(first == "a" ? "b" : "a") == "n3");
  CHECK_FALSE(rig.NodeOf("small").empty());
}

TEST_CASE("A member on its way out does not make its gang whole, though its node has come back") {
  Rig rig;
  for (const char* node : {"n1", "n2", "n3"}) rig.AddNode(node, 1);
  std::string closed;  // where the commit member was to go
  int binds = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Patch>(command.body)) return sim::Fate{.reply_delay_ms = 3'000};
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (!bind) return sim::Fate{};
    if (++binds == 2) closed = bind->node;
    if (bind->node != closed) return sim::Fate{};
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse,
                     .reply_delay_ms = binds == 2 ? 2'000 : 0,
                     .http_status = 422,
                     .message = "no"};
  };
  rig.AddGang("g", 3, 2);
  while (binds < 2) rig.Step();
  std::string lost;
  for (int i = 0; i < 3; ++i)
    if (const std::string node = rig.NodeOf(fmt::format("g-{}", i)); !node.empty()) lost = node;
  rig.DeleteNode(lost);
  rig.Settle();  // its member is to be evicted, which takes 3 s; the third one is bound in its place
  REQUIRE(rig.Bound() == 2);
  rig.AddNode(lost, 0);
  rig.Pass(70'000);
  CHECK(rig.Bound() == 0);
}

TEST_CASE("A gang that is half bound is whole once it asks for no more than is bound, in a new leader's eyes too") {
  using dialects::GangState;
  std::vector<GangState> reports;
  Rig rig(Options::HalfBound::kRepair, &reports);
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.RefuseBindsTo("n2");
  rig.AddGang("g", 4, 4);
  rig.Pass(20'000);
  REQUIRE(rig.Bound() == 2);
  rig.AddPod("g-4", {.gang = "g", .min = "2"});
  rig.Pass(200'000);
  CHECK(rig.Bound() == 2);
  CHECK(reports.back() == GangState::kWhole);
  reports.clear();
  rig.Restart();
  rig.Settle();
  CHECK(reports == std::vector{GangState::kWhole});
}

TEST_CASE("Killed after any bind and restarted, the scheduler finishes what it finds half done") {
  for (size_t killed_after = 1; killed_after < 12; ++killed_after) {
    Rig rig;
    for (int i = 0; i < 4; ++i) rig.AddNode(fmt::format("n{}", i), 3);
    rig.AddGang("g", 12, 12);
    rig.LoseBindsAfter(killed_after);
    rig.Settle();
    REQUIRE(rig.Bound() == killed_after);
    rig.fate = nullptr;
    rig.Restart();
    rig.Settle();
    CHECK(rig.Bound() == 12);
  }
}

TEST_CASE("The member that the bound ones name as the last stays the last, for a new leader too") {
  Rig rig;
  rig.AddNode("n1", 3);
  rig.LoseBindsAfter(2);
  rig.AddGang("g", 3, 3);
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.Restart();
  rig.fate = nullptr;
  rig.AddPod("f", {.gang = "g", .min = "3"});  // it comes first by name
  rig.Settle();
  REQUIRE(rig.Bound() == 3);
  // The next leader knows from the last one alone that it was whole, or from its absence.
  rig.AddPod("blocker", {.spec = {{"schedulerName", "other"}, {"nodeName", "n1"}}});
  rig.Delete(rig.NodeOf("f").empty() ? "g-2" : "f");
  rig.Restart();
  rig.Pass(200'000);
  CHECK(rig.Bound() == 3);
}

TEST_CASE("A gang that was whole and lost a member is filled up, never undone, by a restarted scheduler too") {
  for (const bool restart : {false, true}) {
    Rig rig;
    rig.AddNode("n1", 4);
    rig.AddGang("g", 4, 4);
    rig.Settle();
    REQUIRE(rig.Bound() == 4);
    rig.Delete("g-2");
    rig.AddPod("blocker", {});
    rig.Settle();
    REQUIRE(rig.NodeOf("blocker") == "n1");
    if (restart) rig.Restart();
    rig.AddPod("g-new", {.gang = "g", .min = "4"});
    rig.Pass(300'000);
    CHECK(rig.Bound() == 4);
    rig.Delete("blocker");
    rig.Settle();
    CHECK(rig.NodeOf("g-new") == "n1");
  }
}

TEST_CASE("A member that has run before the gang was whole counts: the rest starts, after a restart too") {
  for (const bool restart : {false, true}) {
    Rig rig;
    rig.AddNode("n1", 4);
    rig.AddPod("a", {.gang = "g", .min = "2", .owner = "Job"});
    rig.AddPod("b", {.gang = "g", .min = "2", .owner = "Job"});
    while (rig.Bound() == 0) rig.Step();
    const std::string first = rig.NodeOf("a").empty() ? "b" : "a";
    rig.SetPhase(first, "Succeeded");
    if (restart) rig.Restart();
    rig.Pass(120'000);
    CHECK(rig.Bound() == 2);
  }
}

TEST_CASE("What is left of a Job starts though the others have run; another Job in the gang's name needs its minimum") {
  Rig rig;
  rig.AddNode("n1", 4);
  for (const char* name : {"a", "b", "c"}) rig.AddPod(name, {.gang = "g", .min = "3", .owner = "Job"});
  rig.Settle();
  REQUIRE(rig.Bound() == 3);
  rig.SetPhase("a", "Succeeded");
  rig.SetPhase("b", "Succeeded");
  rig.Delete("c");
  SECTION("recreated") {
    rig.AddPod("again", {.gang = "g", .min = "3", .owner = "Job"});
    rig.Settle();
    CHECK(rig.NodeOf("again") == "n1");
  }
  SECTION("recreated, and restarted") {
    rig.AddPod("again", {.gang = "g", .min = "3", .owner = "Job"});
    rig.Restart();
    rig.Settle();
    CHECK(rig.NodeOf("again") == "n1");
  }
  SECTION("another Job") {
    rig.AddPod("d", {.gang = "g", .min = "3", .owner = "Job", .owner_uid = "another"});
    rig.AddPod("e", {.gang = "g", .min = "3", .owner = "Job", .owner_uid = "another"});
    rig.Pass(5'000);
    CHECK(rig.NodeOf("d").empty());
    CHECK(rig.Waits("d") == "Unschedulable: gang default/g waits for members: it needs 3 members, 2 of 3 exist.");
    rig.AddPod("f", {.gang = "g", .min = "3", .owner = "Job", .owner_uid = "another"});
    rig.Settle();
    CHECK(rig.Bound() == 5);
  }
}

TEST_CASE("A waiting member of a half-done gang is touched by the next leader: a late bind of the last one fails") {
  Rig rig;
  for (const char* name : {"n1", "n2"}) rig.AddNode(name, 1);
  const auto take = [&](const std::string& name, const std::string& node) {
    rig.AddPod(name, {.spec = {{"schedulerName", "other"}, {"nodeName", node}}});
  };
  // The first bind is done; the second finds no server, and then no room.
  rig.fate = [&](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Bind>(command.body) && rig.Bound() == 1)
      return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 422};
    return sim::Fate{};
  };
  for (const char* name : {"a", "b"}) rig.AddPod(name, {.gang = "g", .min = "2"});
  rig.Settle();
  REQUIRE(rig.Bound() == 1);
  const std::string left = rig.NodeOf("a").empty() ? "a" : "b";
  const std::string node = rig.NodeOf("a") == "n1" || rig.NodeOf("b") == "n1" ? "n2" : "n1";
  take("x", node);
  rig.Pass(5'000);
  const std::string reason = rig.Waits(left);
  REQUIRE_FALSE(reason.empty());
  // Then there is room, and its bind is long on its way, the scheduler dies, and the room is gone again.
  rig.fate = [](const cluster::Command& command) {
    return std::holds_alternative<cluster::Bind>(command.body) ? sim::Fate{.request_delay_ms = 30'000, .stray = true}
                                                               : sim::Fate{};
  };
  rig.Delete("x");
  rig.Settle();
  rig.fate = nullptr;
  take("y", node);
  const std::unique_ptr<sim::Writer> dead = rig.Replace();
  rig.Pass(1'000);
  REQUIRE(rig.Waits(left) == reason);
  rig.clock.Advance(30'000);
  dead->Pump();
  CHECK(rig.NodeOf(left).empty());
}

TEST_CASE("The last bind has no answer and the same again is refused: nothing is undone before it cannot happen") {
  const bool late = GENERATE(false, true);
  Rig rig;
  rig.AddNode("n1", 2);
  int lasts = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (const auto* patch = std::get_if<cluster::Patch>(&command.body))
      return sim::Fate{.request_delay_ms = late && patch->object.resource == "pods" ? 65'000 : 0, .stray = late};
    if (!std::holds_alternative<cluster::Bind>(command.body) || rig.Bound() == 0) return sim::Fate{};
    return ++lasts == 1 ? sim::Fate{.request_delay_ms = 70'000, .stray = true}
                        : sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 503};
  };
  rig.AddGang("g", 2, 2);
  rig.Pass(200'000);
  REQUIRE(lasts > 1);
  CHECK(rig.Bound() == (late ? 2 : 0));
}

TEST_CASE("A member that fails while the last bind is unanswered: the gang was whole, here as after a restart") {
  for (const bool restart : {false, true}) {
    Rig rig;
    rig.AddNode("n1", 3);
    size_t binds = 0;
    rig.fate = [&](const cluster::Command& command) {
      if (std::holds_alternative<cluster::Bind>(command.body) && ++binds == 3)
        return sim::Fate{.kind = sim::Fate::Kind::kLoseReply};
      return sim::Fate{};
    };
    rig.AddGang("g", 3, 3);
    for (int i = 0; i < 100 && rig.Bound() < 3; ++i) rig.Step();
    REQUIRE(rig.Bound() == 3);
    rig.feed->BreakWatch("pods");
    rig.SetPhase("g-0", "Failed");
    rig.feed->MendWatch("pods");  // lists by name: the failure is told before the last bind
    rig.AddPod("blocker", {});
    if (restart) rig.Restart();
    rig.Pass(300'000);
    for (int i = 0; i < 3; ++i) CHECK(rig.NodeOf(fmt::format("g-{}", i)) == "n1");
  }
}

TEST_CASE("A member that another writer binds to the node it was planned on counts as bound, the last one too") {
  const int stolen = GENERATE(0, 1, 2);
  const bool restart = GENERATE(false, true);
  Rig rig;
  rig.AddNode("n1", 3);
  rig.AddGang("g", 3, 3);
  const std::string name = fmt::format("g-{}", stolen);
  bool taken = false;
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (bind && bind->pod.name() == name && !std::exchange(taken, true))
      REQUIRE(rig.store.Bind({{"apiVersion", "v1"},
                              {"kind", "Binding"},
                              {"metadata", {{"name", name}, {"namespace", "default"}}},
                              {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", bind->node}}}}));
    return sim::Fate{};
  };
  rig.Settle();
  CHECK(taken);
  CHECK(rig.Bound() == 3);
  // It was whole: when it loses a member and there is no room for a new one, the others stay.
  rig.Delete(fmt::format("g-{}", (stolen + 1) % 3));
  rig.AddPod("blocker", {});
  rig.Settle();
  REQUIRE(rig.NodeOf("blocker") == "n1");
  if (restart) rig.Restart();
  rig.AddPod("g-new", {.gang = "g", .min = "3"});
  rig.Pass(300'000);
  CHECK(rig.Bound() == 3);
}

}  // namespace
}  // namespace tutti::core
