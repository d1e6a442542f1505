// SPDX-License-Identifier: Apache-2.0
// When gangs that wait could start: that is when they start, if nothing else comes.
#include <fmt/format.h>

#include <map>
#include <random>

#include "core/gangs/run_lengths.h"
#include "tests/core/questions.h"

namespace tutti::core {
namespace {

using Basis = observe::StartEstimate::Basis;

// A cluster whose pods run from when they are bound, each until its limit.
struct RunningRig : Rig {
  struct GangArgs {
    int pods = 1, cpu = 1;
    int64_t limit_s = 0;  // 0: none
    std::string queue = {}, priority_class = {};
  };
  void AddGangOf(const std::string& name, const GangArgs& args) {
    PodArgs pod{.gang = name,
                .min = std::to_string(args.pods),
                .queue = args.queue,
                .cpu = std::to_string(args.cpu),
                .priority_class = args.priority_class,
                .spec = {{"preemptionPolicy", "Never"}}};
    if (args.limit_s != 0) pod.spec["activeDeadlineSeconds"] = args.limit_s;
    for (int i = 0; i < args.pods; ++i) AddPod(fmt::format("{}-{}", name, i), pod);
    Run();
  }
  // Has bound pods start, and those end that have reached their limit, until nothing moves.
  void Run() {
    for (bool moves = true; std::exchange(moves, false);) {
      Settle();
      for (const sim::Object& pod : store.All(sim::kPods)) {
        const std::string name = sim::NameOf(*pod);
        if (sim::DigString(*pod, "spec", "nodeName").empty()) continue;
        const auto started = base::ParseTime(sim::DigString(*pod, "status", "startTime"));
        if (!started) {
          began.try_emplace(name.substr(0, name.rfind('-')), clock.WallMs());
          SetStatus(name, "startTime", base::FormatTime(clock.WallMs()));
          moves = true;
        } else if (const int64_t limit = sim::IntOf(sim::Dig(*pod, "spec", "activeDeadlineSeconds"));
                   limit > 0 && clock.WallMs() >= *started + limit * 1'000) {
          Delete(name);
          moves = true;
        }
      }
    }
  }
  void SetStatus(const std::string& name, const std::string& field, const std::string& value) {
    REQUIRE(store.Modify(
        sim::kPods, "default", name, [&](sim::Json& pod) { pod["status"][field] = value; }, sim::Part::kStatus));
  }
  void RunFor(int64_t seconds) {
    for (int64_t i = 0; i < seconds; ++i) {
      clock.Advance(1'000);
      Run();
    }
  }
  observe::StartEstimate Estimate(const std::string& gang) {
    const auto outlook =
        Rehearsed(*this, {.gangs = {}, .drained = {}, .waits = model::GangKey{"label", "default", gang}});
    REQUIRE(outlook);
    REQUIRE(outlook->prospects.size() == 1);
    REQUIRE(outlook->prospects[0].start);
    return *outlook->prospects[0].start;
  }
  // Seconds from now; -1: there is no estimate.
  int64_t StartsIn(const std::string& gang) {
    const observe::StartEstimate it = Estimate(gang);
    return it.basis == Basis::kNone ? -1 : (it.at_ms - clock.WallMs()) / 1'000;
  }
  std::map<std::string, base::Millis> began;  // gangs, wall time
};

std::string Awaited(const observe::StartEstimate& it) {
  std::string text;
  for (const observe::StartEstimate::End& end : it.awaits) text += (text.empty() ? "" : " ") + end.of.name;
  return text;
}

TEST_CASE("a gang starts when what is in its way has reached its limit") {
  RunningRig rig;
  rig.AddNode("a", 4);
  rig.AddGangOf("long", {.pods = 2, .limit_s = 600});
  rig.AddGangOf("short", {.pods = 2, .limit_s = 100});
  rig.AddGangOf("waits", {.pods = 3});
  rig.RunFor(40);
  const observe::StartEstimate it = rig.Estimate("waits");
  CHECK(it.basis == Basis::kDeclared);
  CHECK(it.at_ms == rig.began.at("long") + 600'000);
  CHECK(Awaited(it) == "long short");
  CHECK(it.awaits[1].at_ms == rig.began.at("short") + 100'000);
  rig.RunFor(560);
  CHECK(rig.began.at("waits") == it.at_ms);
}

TEST_CASE("what starts before a gang of its line takes its room, and ends in its time") {
  RunningRig rig;
  rig.AddNode("a", 4);
  rig.AddGangOf("runs", {.pods = 4, .limit_s = 100});
  rig.AddGangOf("first", {.pods = 4, .limit_s = 50});
  rig.AddGangOf("second", {.pods = 3, .limit_s = 30});
  rig.AddGangOf("third", {.pods = 2});
  CHECK(rig.StartsIn("first") == 100);
  CHECK(rig.StartsIn("second") == 150);
  CHECK(rig.StartsIn("third") == 180);
  CHECK(Awaited(rig.Estimate("third")) == "second first runs");
}

TEST_CASE("a gang waits for its queue, and for those that are charged to it") {
  RunningRig rig;
  rig.AddNode("a", 64);
  rig.AddGangOf("other", {.pods = 1, .limit_s = 10});
  rig.AddGangOf("runs", {.pods = 3, .limit_s = 100, .queue = "four"});
  rig.AddGangOf("waits", {.pods = 4, .queue = "four"});
  const observe::StartEstimate it = rig.Estimate("waits");
  CHECK(it.at_ms == rig.began.at("runs") + 100'000);
  CHECK(Awaited(it) == "runs");
}

TEST_CASE("where no end of what is in its way is known, there is no estimate, and that is named") {
  RunningRig rig;
  rig.AddNode("a", 4);
  rig.AddGangOf("limited", {.pods = 1, .limit_s = 100});
  rig.AddGangOf("endless", {.pods = 3});
  rig.AddGangOf("waits", {.pods = 2});
  const observe::StartEstimate it = rig.Estimate("waits");
  CHECK(it.basis == Basis::kNone);
  CHECK(!it.why.empty());
  REQUIRE(it.endless.size() == 1);
  CHECK(it.endless[0].name == "endless");
}

TEST_CASE("what could not start on empty nodes has no estimate") {
  RunningRig rig;
  rig.AddNode("a", 4);
  rig.AddGangOf("runs", {.pods = 1, .limit_s = 100});
  rig.AddGangOf("waits", {.pods = 5});
  const observe::StartEstimate it = rig.Estimate("waits");
  CHECK(it.basis == Basis::kNone);
  CHECK(it.endless.empty());
}

TEST_CASE("a limit that the API does not allow is none, and one that is over ends now") {
  RunningRig rig;
  rig.AddNode("a", 2);
  CHECK(model::RunLimit(-1) == 0);
  CHECK(model::RunLimit(0) == 0);
  CHECK(model::RunLimit(int64_t{1} << 40) == 0);
  CHECK(model::RunLimit(2'147'483'647) == 2'147'483'647'000);
  rig.AddGangOf("runs", {.pods = 2, .limit_s = 10});
  rig.AddGangOf("waits", {.pods = 2});
  rig.SetStatus("runs-0", "startTime", base::FormatTime(rig.clock.WallMs() - 3'600'000));
  rig.SetStatus("runs-1", "startTime", base::FormatTime(rig.clock.WallMs() - 3'600'000));
  CHECK(rig.StartsIn("waits") == 0);
  rig.SetStatus("runs-1", "startTime", base::FormatTime(rig.clock.WallMs() + 3'600'000));
  CHECK(rig.StartsIn("waits") == 3'610);
}

TEST_CASE(
    "what has no limit ends after as long as gangs like it have run, and not where it runs longer than all of them") {
  RunningRig rig;
  rig.AddNode("a", 2);
  const auto run = [&rig](const std::string& name, int64_t seconds) {
    rig.AddGangOf(name, {.pods = 2});
    rig.RunFor(seconds);
    for (const char* pod : {"-0", "-1"}) rig.SetPhase(name + pod, "Succeeded");
    rig.Run();
  };
  run("first", 30);
  run("second", 50);
  run("third", 40);
  rig.AddGangOf("runs", {.pods = 2});
  rig.AddGangOf("waits", {.pods = 2});
  rig.AddGangOf("behind", {.pods = 2});
  const observe::StartEstimate it = rig.Estimate("waits");
  CHECK(it.basis == Basis::kSeen);
  CHECK(it.at_ms == rig.began.at("runs") + 40'000);
  REQUIRE(it.awaits.size() == 1);
  CHECK(it.awaits[0].like_it == 3);
  CHECK(it.awaits[0].took_ms == 40'000);
  CHECK(rig.StartsIn("behind") == 80);
  rig.RunFor(45);
  CHECK(rig.StartsIn("waits") == 0);
  rig.RunFor(6);
  const observe::StartEstimate none = rig.Estimate("waits");
  CHECK(none.basis == Basis::kNone);
  REQUIRE(none.endless.size() == 1);
  CHECK(none.endless[0].name == "runs");
}

TEST_CASE("run lengths are kept of the last runs of a shape, and of the last shapes") {
  RunLengths lengths;
  const auto key = [](int i) { return model::GangKey{"d", "default", std::to_string(i)}; };
  for (int i = 0; i < 100; ++i) {
    lengths.Note({"d", "q", "r"}, key(i), i);
    lengths.Note({"d", "q", "r"}, key(i), i + 1'000);  // its last pod
  }
  const auto guess = lengths.Of({"d", "q", "r"});
  REQUIRE(guess);
  CHECK(guess->runs == 16);
  CHECK(guess->median_ms == 1'092);
  CHECK(guess->longest_ms == 1'099);
  CHECK(!lengths.Of({"d", "other", "r"}));
  for (int i = 0; i < 1'024; ++i) lengths.Note({"d", "q", std::to_string(i)}, key(i), 1);
  CHECK(!lengths.Of({"d", "q", "r"}));
  CHECK(lengths.Of({"d", "q", "0"}));
}

TEST_CASE("a gang whose queue does not exist waits for nothing that runs") {
  RunningRig rig;
  rig.AddNode("a", 2);
  rig.AddGangOf("endless", {.pods = 1});
  rig.AddGangOf("lost", {.pods = 1, .queue = "missing"});
  const observe::StartEstimate it = rig.Estimate("lost");
  CHECK(it.basis == Basis::kNone);
  CHECK(it.endless.empty());
  CHECK_THAT(it.why, Catch::Contains("queue, which is missing or stopped"));
}

TEST_CASE("a gang that does not wait for room has no estimate, and one that is not there no answer") {
  RunningRig rig;
  rig.AddNode("a", 2);
  rig.AddGangOf("runs", {.pods = 2});
  rig.AddPod("alone-0", {.gang = "lacks", .min = "2"});
  CHECK(rig.Estimate("runs").basis == Basis::kNone);
  CHECK(rig.Estimate("lacks").basis == Basis::kNone);
  CHECK(!Rehearsed(rig, {.gangs = {}, .drained = {}, .waits = model::GangKey{"label", "default", "missing"}}));
}

TEST_CASE("a gang that is not there yet comes behind those that wait") {
  RunningRig rig;
  rig.AddNode("a", 4);
  rig.AddGangOf("runs", {.pods = 4, .limit_s = 100});
  rig.AddGangOf("first", {.pods = 4, .limit_s = 50});
  Rig other;
  other.AddGang("asked", 2, 2);
  other.AddGang("behind", 4, 4);
  other.Settle();
  const observe::Outlook outlook = Asked(rig, other.scheduler->Drafts());
  REQUIRE(outlook.prospects[0].start);
  CHECK(outlook.prospects[0].start->at_ms == rig.began.at("runs") + 150'000);
  REQUIRE(outlook.prospects[1].start);
  CHECK(outlook.prospects[1].start->basis == Basis::kNone);
  REQUIRE(outlook.prospects[1].start->endless.size() == 1);
  CHECK(outlook.prospects[1].start->endless[0].name == "asked");
}

TEST_CASE("gangs that wait start when it was said, whatever waits before them") {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto up_to = [&random](int most) { return static_cast<int>(random() % static_cast<uint32_t>(most)) + 1; };
    RunningRig rig;
    rig.AddPriorityClass("high", 100);
    for (int i = 0; i < 4; ++i) rig.AddNode(fmt::format("n{}", i), 4);
    for (int i = 0; i < 14; ++i) {
      rig.AddGangOf(fmt::format("g{}", i), {.pods = up_to(5),
                                            .cpu = up_to(3),
                                            .limit_s = 10 * up_to(30) + up_to(9),
                                            .priority_class = up_to(4) == 1 ? "high" : ""});
      rig.RunFor(up_to(3));
    }
    std::map<std::string, base::Millis> said;
    for (int i = 0; i < 14; ++i)
      if (const std::string name = fmt::format("g{}", i); !rig.began.contains(name))
        said[name] = rig.Estimate(name).at_ms;
    CHECK(said.size() >= 2);
    rig.RunFor(1'500);
    for (const auto& [name, at_ms] : said) {
      CAPTURE(name);
      CHECK(rig.began[name] == at_ms);
    }
  }
}

}  // namespace
}  // namespace tutti::core
