// SPDX-License-Identifier: Apache-2.0
// Gangs that cannot be completed: which are undone, which are kept, what is said meanwhile, and that it ends.
#include <algorithm>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// What tells a member of its end before it is deleted; nullptr: the command is something else.
const cluster::Patch* Announcement(const cluster::Command& command) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  return patch && patch->body.find("DisruptionTarget") != std::string::npos ? patch : nullptr;
}

TEST_CASE("When a gang is undone, a member that another writer bound stays where it is") {
  Rig rig;
  for (const char* node : {"n1", "n2", "n3"}) rig.AddNode(node, 1);
  int binds = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (!std::holds_alternative<cluster::Bind>(command.body) || ++binds == 1) return sim::Fate{};
    return Refused();
  };
  rig.AddGang("g", 3, 3);
  rig.Settle();
  REQUIRE(rig.Bound() == 1);
  const std::string stranger = rig.NodeOf("g-2").empty() ? "g-2" : "g-1";
  REQUIRE(rig.store.Bind(
      {{"metadata", {{"name", stranger}, {"namespace", "default"}}}, {"target", {{"kind", "Node"}, {"name", "n3"}}}}));
  rig.Pass(70'000);
  CHECK(rig.NodeOf(stranger) == "n3");
  CHECK(rig.Bound() == 1);
}

TEST_CASE("A gang that cannot be completed is undone as a whole") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.RefuseBindsTo("n2");
  SECTION("its members are deleted where a controller recreates them") {
    rig.AddGang("g", 4, 4);
    rig.Pass(1'000);
    CHECK(rig.Bound() == 2);
    rig.Pass(90'000);
    CHECK(rig.Bound() == 0);
  }
  SECTION("a pod without a controller is kept, with the reason on it") {
    rig.AddGang("g", 4, 4, 0, "");
    rig.Pass(90'000);
    CHECK(rig.Bound() == 2);
  }
  SECTION("a pod whose Job would count a failure is kept") {
    rig.AddGang("g", 4, 4, 0, "Job");
    rig.Pass(90'000);
    CHECK(rig.Bound() == 2);
  }
}

TEST_CASE("A gang is whole, and not undone, if all of its minimum is bound and kept") {
  Rig rig;
  for (const char* node : {"n1", "n2", "n3"}) rig.AddNode(node, 1);
  rig.LoseBindsAfter(1);
  rig.AddGang("g", 2, 2, 0, "");
  rig.Pass(1'000);
  REQUIRE(rig.Bound() == 1);
  const bool is_first = !rig.NodeOf("g-0").empty();
  const std::string first = is_first ? "g-0" : "g-1", last = is_first ? "g-1" : "g-0", node = rig.NodeOf(first);
  rig.fate = [&last](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    return bind && bind->pod.name() == last ? Refused() : sim::Fate();
  };
  rig.DeleteNode(node);
  rig.AddPod("g-2", {.gang = "g", .min = "2", .owner = ""});
  rig.Pass(1'000);
  REQUIRE_FALSE(rig.NodeOf("g-2").empty());
  rig.AddNode(node, 1);
  rig.Pass(90'000);
  CHECK(rig.Bound() == 2);
  CHECK(rig.NodeOf(last).empty());
  CHECK_THAT(rig.Waits(last), Catch::Contains("is whole"));
}

TEST_CASE("A member on which it cannot be written that its gang is undone is not deleted before it can") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  bool lost = true;
  rig.fate = [&lost](const cluster::Command& command) {
    if (IsBindTo(command, "n2")) return Refused();
    return lost && Announcement(command) ? sim::Fate{.kind = sim::Fate::Kind::kDrop} : sim::Fate{};
  };
  rig.AddGang("g", 4, 4);
  rig.Pass(180'000);
  CHECK(rig.Bound() == 2);
  lost = false;
  rig.Pass(60'000);
  CHECK(rig.Bound() == 0);
}

TEST_CASE("However often its gang is considered, a member that cannot be written to is tried every half second") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  int tries = 0;
  rig.fate = [&tries](const cluster::Command& command) {
    if (IsBindTo(command, "n2")) return Refused();
    return Announcement(command) ? ++tries, Refused() : sim::Fate{};
  };
  rig.AddGang("g", 4, 4);
  for (int i = 0; i < 90 && tries == 0; ++i) rig.Pass(1'000);
  REQUIRE(tries > 0);
  for (int i = 0; i < 20; ++i) {
    rig.SetPhase("g-0", i % 2 == 0 ? "Unknown" : "Pending");
    rig.Pass(20);
  }
  tries = 0;
  rig.Pass(10'000);
  CHECK(tries > 0);
  CHECK(tries <= 2 * 20);
}

TEST_CASE("A member that has ended while it was written on it that its gang is undone is not deleted") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  std::vector<std::string> told;
  rig.fate = [&told](const cluster::Command& command) {
    if (IsBindTo(command, "n2")) return Refused();
    const cluster::Patch* announcement = Announcement(command);
    if (!announcement) return sim::Fate{};
    told.push_back(announcement->object.name());
    return sim::Fate{.reply_delay_ms = 5'000};
  };
  rig.AddGang("g", 4, 4);
  for (int i = 0; i < 90 && told.empty(); ++i) rig.Pass(1'000);
  REQUIRE(told.size() == 2);
  for (const std::string& name : std::vector(told)) rig.SetPhase(name, "Failed");
  rig.Pass(60'000);
  CHECK(told.size() == 2);
  for (const std::string& name : told) CHECK(rig.NodeOf(name) == "n1");
}

TEST_CASE("The last member is not bound while another one is being evicted, though that one's node is back") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddNode("n2", 1);
  int binds = 0;
  rig.fate = [&binds](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Bind>(command.body) && ++binds == 2) return Refused();
    return Announcement(command) ? sim::Fate{.reply_delay_ms = 5'000} : sim::Fate{};
  };
  rig.AddGang("g", 2, 2);
  rig.Settle();
  REQUIRE(rig.Bound() == 1);
  const std::string first = rig.NodeOf("g-0").empty() ? "g-1" : "g-0", last = first == "g-0" ? "g-1" : "g-0";
  const std::string node = rig.NodeOf(first);
  rig.DeleteNode(node);
  rig.Settle();
  rig.AddNode(node, 1);
  rig.Pass(4'000);
  CHECK(rig.NodeOf(last).empty());
  rig.Pass(60'000);
  CHECK(rig.NodeOf(first) == "<gone>");
  CHECK(rig.NodeOf(last).empty());
}

TEST_CASE("A member that is kept when its gang is undone is not planned again before its bind is seen") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.RefuseBindsTo("n2");
  rig.AddGang("g", 4, 4, 0, "");
  rig.Step();
  rig.feed->BreakWatch("pods");  // binds are answered, and not seen
  rig.Pass(90'000);
  REQUIRE(rig.Bound() == 2);
  rig.AddNode("n3", 8);
  rig.Pass(10'000);
  CHECK(rig.Bound() == 2);
  rig.feed->MendWatch("pods");
  rig.Pass(10'000);
  CHECK(rig.Bound() == 4);
}

TEST_CASE("Killed half way with the rest of the room taken, the restarted scheduler undoes the half") {
  Rig rig;
  for (int i = 0; i < 4; ++i) rig.AddNode(fmt::format("n{}", i), 1);
  rig.AddGang("g", 4, 4);
  rig.LoseBindsAfter(2);
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.fate = nullptr;
  rig.DeleteNode("n3");
  for (int i = 0; i < 4; ++i)
    if (bool used = false; !used) {
      for (const sim::Object& pod : rig.store.All(sim::kPods))
        used = used || sim::DigString(*pod, "spec", "nodeName") == fmt::format("n{}", i);
      if (!used && rig.store.Find(sim::kNodes, "", fmt::format("n{}", i))) rig.DeleteNode(fmt::format("n{}", i));
    }
  rig.Restart();
  rig.Pass(120'000);
  CHECK(rig.Bound() == 0);

  // Their controller makes them again, there is room again, and they start.
  for (int i = 0; i < 4; ++i)
    if (rig.NodeOf(fmt::format("g-{}", i)) == "<gone>")
      rig.AddPod(fmt::format("g-new-{}", i), {.gang = "g", .min = "4"});
  rig.Pass(1'000);
  CHECK(rig.Bound() == 0);
  rig.AddNode("n9", 2);
  rig.Pass(1'000);
  CHECK(rig.Bound() == 4);
}

TEST_CASE("Killed between the word that a gang is undone and the deletes, the restarted scheduler finishes it") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  bool announced = false;
  rig.fate = [&announced](const cluster::Command& command) {
    announced = announced || Announcement(command);
    if (std::holds_alternative<cluster::Delete>(command.body)) return sim::Fate{.kind = sim::Fate::Kind::kDrop};
    return IsBindTo(command, "n2") ? Refused() : sim::Fate{};
  };
  rig.AddGang("g", 4, 4);
  for (int i = 0; i < 90 && !announced; ++i) rig.Pass(1'000);
  REQUIRE(announced);
  REQUIRE(rig.Bound() == 2);

  rig.fate = nullptr;  // n2 would take the others now
  rig.Restart();
  rig.Settle();
  CHECK(rig.Bound() == 0);
  for (const char* name : {"g-new-0", "g-new-1"}) rig.AddPod(name, {.gang = "g", .min = "4"});
  rig.Pass(10'000);
  CHECK(rig.Bound() == 4);
}

TEST_CASE("Binds refused while their gang is being undone do not hold it up") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddGang("g", 4, 4);
  bool refuse = true;
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (bind && refuse && bind->pod.name() != "g-0")
      return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .reply_delay_ms = 1'900, .http_status = 503};
    return sim::Fate{};
  };
  rig.Pass(100'000);
  CHECK(rig.Bound() == 0);
  refuse = false;
  rig.AddPod("g-new", {.gang = "g", .min = "4"});
  rig.Pass(10'000);
  CHECK(rig.Bound() == 4);
}

// As the controller of all that are there does: a pod of another name for each that went.
void Recreate(Rig& rig, const std::string& gang, int members, const std::string& min, int* made) {
  for (auto there = static_cast<int>(rig.store.All(sim::kPods).size()); there < members; ++there)
    rig.AddPod(fmt::format("{}-again-{}", gang, (*made)++), {.gang = gang, .min = min});
}

TEST_CASE("A gang of which one bind is always refused is undone once, and then asks with that one first") {
  Rig rig;
  for (int i = 0; i < 20; ++i) rig.AddNode(fmt::format("n{}", i), 1);
  const bool refuse_last = GENERATE(false, true);
  const std::string refused = refuse_last ? "g-3" : "g-1";
  bool refuse = true;
  int others = 0, tries = 0;
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (!bind || !refuse) return sim::Fate{};
    if (bind->pod.name() == refused) return ++tries, Refused();
    return ++others, sim::Fate{};
  };
  rig.AddGang("g", 4, 4);
  int made = 0;
  for (int i = 0; i < 600; ++i) {
    rig.Pass(1'000);
    Recreate(rig, "g", 4, "4", &made);
  }
  CHECK(others == (refuse_last ? 3 : 2));  // the last leaves when the others are bound
  CHECK(made == others);
  CHECK(tries > 30);
  CHECK(tries < 80);
  CHECK(rig.Bound() == 0);
  CHECK_THAT(rig.Waits("g-again-0"), Catch::Contains("was refused: no"));
  refuse = false;
  rig.Pass(10'000);
  CHECK(rig.Bound() == 4);
}

TEST_CASE("A gang whose binds are always refused keeps no room that another could use") {
  Rig rig;
  for (int i = 0; i < 4; ++i) rig.AddNode(fmt::format("n{}", i), 1);
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    return bind && bind->pod.name().starts_with("g-") ? Refused() : sim::Fate{};
  };
  const bool whole = GENERATE(false, true);
  const int others = whole ? 1 : 4;
  if (whole) rig.AddGang("whole", 3, 3);
  rig.Settle();
  for (int i = 0; i < others; ++i)
    rig.AddPod(fmt::format("g-{}", i), {.gang = whole ? "whole" : "g", .min = whole ? "3" : "4"});
  rig.Pass(5'000);
  CHECK_THAT(rig.Waits("g-0"), Catch::Contains("was refused: no"));
  rig.AddGang("h", others, others);
  rig.Pass(10'000);
  CHECK(rig.Bound() == 4);
}

TEST_CASE("A gang starts without a member whose binds are always refused, where others will do") {
  Rig rig;
  for (int i = 0; i < 20; ++i) rig.AddNode(fmt::format("n{}", i), 1);
  rig.fate = [&](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    return bind && bind->pod.name() == "g-1" ? Refused() : sim::Fate{};
  };
  rig.AddGang("g", 4, 3);
  rig.Pass(2'000);
  CHECK(rig.Bound() == 3);
}

TEST_CASE("A member that never ends its going does not hold up a gang that was undone") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.RefuseBindsTo("n2");
  rig.AddPod("stuck", {.gang = "g", .min = "4"});
  REQUIRE(rig.store.Modify(sim::kPods, "default", "stuck",
                           [](sim::Json& pod) { pod["metadata"]["finalizers"] = {"example.com/never"}; }));
  rig.Delete("stuck");
  rig.AddGang("g", 4, 4);
  rig.Pass(1'000);
  REQUIRE(rig.Bound() == 2);
  rig.Pass(90'000);
  REQUIRE(rig.Bound() == 0);
  rig.fate = nullptr;
  for (int i = 4; i < 6; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "4"});
  rig.Pass(10'000);
  CHECK(rig.Bound() == 4);
  CHECK(rig.NodeOf("stuck").empty());
}

TEST_CASE("While a gang is being undone its members say so") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.fate = [](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (bind && bind->pod.name() == "g-1") return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 503};
    if (std::holds_alternative<cluster::Delete>(command.body)) return sim::Fate{.kind = sim::Fate::Kind::kRefuse};
    return sim::Fate{};
  };
  rig.AddGang("g", 2, 2);
  rig.Pass(70'000);
  REQUIRE(rig.Bound() == 1);
  CHECK_THAT(rig.Waits("g-1"), Catch::Contains("is being undone"));
}

TEST_CASE("A pod bound to a node that was gone is deleted, however often that has to be asked for") {
  Rig rig;
  rig.AddNode("n1", 4);
  int deletes = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Bind>(command.body) && rig.store.Find(sim::kNodes, "", "n1"))
      rig.DeleteNode("n1");
    if (std::holds_alternative<cluster::Delete>(command.body) && ++deletes < 3)
      return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 503};
    return sim::Fate{};
  };
  SECTION("a lone one") {
    rig.AddPod("p", {});
    rig.Pass(60'000);
    CHECK(rig.NodeOf("p") == "<gone>");
  }
  SECTION("the last of a gang") {
    rig.AddGang("g", 1, 1);
    rig.Pass(60'000);
    CHECK(rig.NodeOf("g-0") == "<gone>");
  }
}

TEST_CASE("A pod bound to a node that was gone, which nothing would make again, says why it is kept") {
  Rig rig;
  rig.AddNode("n1", 4);
  std::vector<std::string> notes;
  rig.fate = [&](const cluster::Command& command) {
    if (const auto* event = std::get_if<cluster::EmitEvent>(&command.body)) notes.push_back(event->note);
    if (std::holds_alternative<cluster::Bind>(command.body) && rig.store.Find(sim::kNodes, "", "n1"))
      rig.DeleteNode("n1");
    return sim::Fate{};
  };
  rig.AddPod("p", {.owner = ""});
  rig.Pass(10'000);
  CHECK(rig.NodeOf("p") == "n1");
  const std::string kept =
      "the node it was bound to does not exist, but this pod is kept: no controller would recreate it";
  CHECK(std::ranges::count(notes, kept) == 1);
}

TEST_CASE("What is kept of a gang that cannot be completed is told of once, and nothing is said to be undone") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  std::map<std::string, int> notes;
  int undone = 0;
  struct Counting final : observe::Observer {
    explicit Counting(int* count) : undone(count) {}
    void OnUndone(int64_t) override { ++*undone; }
    int* undone;
  } observer(&undone);
  rig.Observe(&observer);
  rig.fate = [&](const cluster::Command& command) {
    if (const auto* event = std::get_if<cluster::EmitEvent>(&command.body)) ++notes[event->note];
    return IsBindTo(command, "n2") ? Refused() : sim::Fate();
  };
  rig.AddGang("g", 4, 4, 0, "Job");
  rig.Pass(5'000);
  REQUIRE(rig.Bound() == 2);
  rig.DeleteNode("n2");
  SECTION("on a node that is there") {}
  SECTION("on a node that is gone") { rig.DeleteNode("n1"); }
  rig.Pass(150'000);
  const std::string said = rig.Waits("g-3");
  notes.clear();
  rig.Pass(600'000);
  CHECK(undone == 0);
  for (const auto& [note, times] : notes) CHECK(fmt::format("{} x {}", times, note) == "");
  CHECK(rig.Waits("g-3") == said);
  CHECK_THAT(said, !Catch::Contains("subgroups"));
}

TEST_CASE("A declaration that becomes unreadable half way is what a gang waits for, and does not make it whole") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddGang("g", 3, 3);
  int binds = 0;
  rig.fate = [&](const cluster::Command& command) {
    const bool last = std::holds_alternative<cluster::Bind>(command.body) && ++binds >= 3;
    return last ? sim::Fate{.kind = sim::Fate::Kind::kRefuse} : sim::Fate{};
  };
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.Annotate("g-0", "problem", "it cannot be read");
  rig.Pass(5'000);
  for (const char* name : {"g-0", "g-1", "g-2"})
    if (rig.NodeOf(name).empty()) CHECK_THAT(rig.Waits(name), Catch::Contains("it cannot be read"));
  rig.Pass(70'000);
  CHECK(rig.Bound() == 0);
}

}  // namespace
}  // namespace tutti::core
