// SPDX-License-Identifier: Apache-2.0
// Writes are of what changed: new figures alone rewrite no pod at once, and what comes too late is not written.
#include "core/publish/figure_writes.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// Pod p does not fit, and the word of that arrives late.
struct LateWord : Rig {
  explicit LateWord(base::Millis by_ms, base::Millis answer_ms = 0) {
    AddNode("n1", 1);
    fate = [=, this](const cluster::Command& command) {
      const auto* patch = std::get_if<cluster::Patch>(&command.body);
      if (!patch || patch->object.name() != "p") return sim::Fate{};
      ++patches;
      if (refuse) return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 409};
      return sim::Fate{.request_delay_ms = by_ms, .reply_delay_ms = answer_ms};
    };
    AddPod("p", {.cpu = "2"});
  }
  bool refuse = false;  // as if the pod were not what it was
};

TEST_CASE("The rest of a whole gang is written to twice a second at most, however often its queue's figures change") {
  Rig rig;
  rig.AddNode("n1", 8);
  for (int i = 0; i < 20; ++i)
    rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "1", .queue = "four", .cpu = "3"});
  rig.CountPatches();
  rig.Pass(2'000);
  for (int i = 0; i < 20; ++i) {
    rig.AddPod("passer-by", {.queue = "four"});
    rig.Pass(100);
    rig.Delete("passer-by");
    rig.Pass(100);
  }
  CHECK(rig.patches <= 19 * 9);

  // In the end they are brought up to date.
  const std::string before = rig.Waits("g-1");
  rig.AddPod("stays", {.queue = "four"});
  rig.Pass(1'000);
  CHECK(rig.NodeOf("stays") == "n1");
  CHECK(rig.Waits("g-1") != before);
}

TEST_CASE("Figures that never stand still are written to so many pods a second, each in its turn") {
  constexpr int kPods = 2'500, kSeconds = 20;
  Rig rig;
  rig.AddNode("n1", 1);
  for (int i = 0; i < kPods; ++i) rig.AddPod(fmt::format("p-{}", i), {.cpu = "9"});
  rig.CountPatches();
  rig.Pass(2'000);
  REQUIRE(rig.patches == kPods);
  for (int i = 0; i < kSeconds; ++i) {
    rig.AddNode(fmt::format("more-{}", i), 1);
    rig.Pass(1'000);
  }
  CHECK(rig.patches > kPods + FigureWrites::kAtOnce);
  CHECK(rig.patches <= kPods + FigureWrites::kAtOnce + kSeconds * FigureWrites::kPerSecond);
  rig.Pass(10'000);
  for (int i = 0; i < kPods; ++i)
    if (const std::string said = rig.Waits(fmt::format("p-{}", i)); said.find("0/21 nodes") == said.npos) FAIL(said);
  const int patches = rig.patches;
  rig.Pass(600'000);
  CHECK(rig.patches == patches);
}

TEST_CASE("A gang that is edited over and over has its members written to at a bounded rate") {
  constexpr int kMembers = 200, kEdits = 10;
  Rig rig;
  rig.AddNode("n1", 8);
  for (int i = 0; i < kMembers; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "300"});
  rig.CountPatches();
  rig.Pass(2'000);
  CHECK(rig.patches == kMembers);  // the first word comes at once
  for (int i = 1; i <= kEdits; ++i) {
    rig.Annotate("g-0", "min", std::to_string(300 + i));
    rig.Pass(1'000);
  }
  CHECK(rig.patches <= 5 * kMembers);
  rig.Pass(60'000);
  CHECK(rig.Waits("g-0").find("it needs 310 members") != std::string::npos);
  CHECK(rig.Waits("g-199").find("it needs 310 members") != std::string::npos);
}

TEST_CASE("A gang that is edited between what its queue and what nodes lack is written to at a bounded rate") {
  constexpr int kMembers = 200, kEdits = 10;
  const bool in_figures = GENERATE(true, false);
  CAPTURE(in_figures);
  Rig rig;
  rig.AddNode("n1", 1);
  for (int i = 0; i < kMembers; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "200"});
  rig.CountPatches();
  rig.Pass(2'000);
  REQUIRE(rig.patches == kMembers);
  const auto edit = [&](bool first) {
    REQUIRE(rig.store.Modify(sim::kPods, "default", "g-0", [&](sim::Json& pod) {
      if (in_figures)
        pod["metadata"]["annotations"]["min"] = first ? "199" : "200";
      else
        pod["metadata"]["labels"]["queue"] = first ? "four" : "";
    }));
  };
  for (int i = 0; i < kEdits; ++i) {
    edit(i % 2 == 0);
    rig.Pass(1'000);
  }
  CHECK(rig.patches <= 5 * kMembers);
  edit(true);
  rig.Pass(90'000);
  CHECK_THAT(rig.Waits("g-199"), Catch::Contains(in_figures ? "of the 199 pods it needs" : "queue \"four\" is full"));
  CHECK(rig.Waits("g-0") == rig.Waits("g-199"));
}

TEST_CASE("That a pod waits is not written on it once it is bound, however late the write arrives") {
  LateWord rig(3'000);
  rig.Pass(1'000);
  rig.AddNode("n2", 2);
  rig.Pass(20'000);
  CHECK(rig.NodeOf("p") == "n2");
  CHECK(rig.Waits("p").empty());
  CHECK(rig.patches == 1);
}

TEST_CASE("Where another writer changes a pod before the word that it waits arrives, that is said again") {
  LateWord rig(1'000);
  rig.Settle();
  rig.Annotate("p", "note", "seen");
  rig.Pass(20'000);
  CHECK(rig.Waits("p").find("0/1 nodes are available") != std::string::npos);
  CHECK(rig.patches == 2);
}

TEST_CASE("While the watch of pods lags, a new word waits for what the last one changed") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddPod("p", {.cpu = "9"});
  rig.Settle();
  rig.CountPatches();
  rig.feed->BreakWatch("pods");
  for (int i = 2; i < 7; ++i) {
    rig.AddNode(fmt::format("n{}", i), 1);
    rig.Pass(10'000);
  }
  CHECK(rig.patches == 1);
  rig.feed->MendWatch("pods");
  rig.Settle();
  CHECK(rig.patches == 2);
  CHECK(rig.Waits("p") ==
        "Unschedulable: 0/6 nodes are available: 6 Insufficient cpu. preemption: 0/6 nodes are available: 6 Preemption "
        "is not helpful for scheduling.");
}

TEST_CASE("A word that was refused as if the pod had changed, which it has not, is said again within a minute") {
  LateWord rig(0);
  rig.refuse = true;
  rig.Settle();
  REQUIRE(rig.patches == 1);
  rig.refuse = false;
  rig.Pass(65'000);
  CHECK(rig.Waits("p").find("0/1 nodes are available") != std::string::npos);
  CHECK(rig.patches == 2);
}

TEST_CASE("What others write over a word that was not answered yet is put right") {
  LateWord rig(0, 1'000);
  rig.Settle();
  REQUIRE_FALSE(rig.Waits("p").empty());
  REQUIRE(rig.store.Modify(
      sim::kPods, "default", "p", [](sim::Json& pod) { pod["status"]["conditions"][0]["message"] = "theirs"; },
      sim::Part::kStatus));
  rig.Pass(20'000);
  CHECK(rig.Waits("p").find("0/1 nodes are available") != std::string::npos);
  CHECK(rig.patches == 2);
}

TEST_CASE("An answer to what was said of a pod in another gang says nothing of what is said of it in this one") {
  LateWord rig(0);
  rig.fate = [&](const cluster::Command& command) {
    if (!std::holds_alternative<cluster::Patch>(command.body)) return sim::Fate{};
    return ++rig.patches == 1 ? sim::Fate{.reply_delay_ms = 3'000} : sim::Fate{.request_delay_ms = 3'000};
  };
  const auto move = [&](const char* gang) {
    REQUIRE(rig.store.Modify(sim::kPods, "default", "p",
                             [&](sim::Json& pod) { pod["metadata"]["labels"]["gang"] = gang; }));
    rig.Settle();
  };
  move("g");
  rig.Pass(100);
  REQUIRE(rig.patches == 1);
  move("h");
  move("g");
  rig.AddNode("n2", 1);
  rig.Pass(20'000);
  CHECK_THAT(rig.Waits("p"), Catch::Contains("0/2 nodes are available"));
  CHECK(rig.patches == 2);
}

TEST_CASE("That words have to wait costs no search") {
  struct : observe::Observer {
    void OnAttempt(std::string_view, std::string_view, int64_t, double) override { ++attempts; }
    int attempts = 0;
  } counts;
  Rig rig;
  rig.Observe(&counts);
  rig.AddNode("n1", 1);
  for (int i = 0; i < 200; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "200"});
  rig.Pass(2'000);
  for (const char* min : {"199", "198", "197"}) {
    rig.Annotate("g-0", "min", min);
    rig.Pass(1'000);
  }
  CHECK_THAT(rig.Waits("g-199"), Catch::Contains("of the 198 pods it needs"));
  counts.attempts = 0;
  rig.Pass(10'000);
  CHECK_THAT(rig.Waits("g-199"), Catch::Contains("of the 197 pods it needs"));
  CHECK(counts.attempts == 0);
}

}  // namespace
}  // namespace tutti::core
