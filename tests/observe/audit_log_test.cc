// SPDX-License-Identifier: Apache-2.0
#include "observe/audit_log.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

using Step = Observer::Step;

struct LogRig {
  base::VirtualClock clock{1'000'000};
  std::vector<std::string> lines;
  AuditLog log{clock, [this](std::string_view message, std::initializer_list<base::LogField> fields) {
                 std::string line(message);
                 for (const base::LogField& field : fields) line += fmt::format(" {}={}", field.key, field.value);
                 lines.push_back(line);
               }};

  ~LogRig() { base::SetVerbosity(0); }
  void Waits(const std::string& name, std::string_view reason, std::string_view sentence, bool lone = false) {
    const model::GangKey key{"volcano", "default", name};
    Observer::Happening wait{.step = Step::kWaits, .gang = key};
    wait.lone = lone;
    wait.members = 4;
    wait.reason = reason;
    wait.sentence = sentence;
    log.OnHappening(wait);
  }
  void Happens(Step step, const std::string& name, std::string_view why = "", bool lone = false) {
    const model::GangKey key{"volcano", "default", name};
    Observer::Happening happening{.step = step, .gang = key};
    happening.lone = lone;
    happening.members = 4;
    happening.sentence = why;
    happening.pod = "p";
    happening.node = "n";
    log.OnHappening(happening);
  }
  void Pass(base::Millis ms) {
    clock.Advance(ms);
    log.OnCycle(0, 0, {});
  }
};

TEST_CASE("a wait has a line when its reason changes in kind, not with each figure") {
  LogRig rig;
  rig.Waits("a", "NoPlacement", "0 of 4 fit.");
  rig.Waits("a", "NoPlacement", "1 of 4 fit.");
  rig.Pass(60'000);
  rig.Waits("a", "NoPlacement", "2 of 4 fit.");
  REQUIRE(rig.lines.size() == 1);
  CHECK(rig.lines[0] ==
        "gang waits gang=default/a dialect=volcano queue= members=4 reason=NoPlacement message=0 of 4 fit.");
  rig.Waits("a", "QueueFull", "the queue is full.");
  REQUIRE(rig.lines.size() == 2);
  rig.Happens(Step::kStarted, "a");
  CHECK(rig.lines.back() == "gang started gang=default/a dialect=volcano members=4 seconds=0");
  rig.Waits("a", "QueueFull", "the queue is full.");  // it waits again: news
  CHECK(rig.lines.size() == 4);
}

TEST_CASE("a gang whose reason goes to and fro has a line in ten seconds, and the last word stands") {
  LogRig rig;
  rig.Waits("a", "NoPlacement", "x");
  for (int i = 0; i < 1'000; ++i) {
    rig.Waits("a", i % 2 == 0 ? "QueueFull" : "NoPlacement", "y");
    rig.Pass(1);
  }
  rig.Waits("a", "QueueFull", "last");
  CHECK(rig.lines.size() == 1);
  rig.Pass(10'000);
  REQUIRE(rig.lines.size() == 2);
  CHECK_THAT(rig.lines[1], Catch::EndsWith("reason=QueueFull message=last"));
  rig.Waits("a", "NoPlacement", "z");
  rig.Waits("a", "QueueFull", "as was said");
  rig.Pass(20'000);
  CHECK(rig.lines.size() == 2);  // it is as the log says
}

TEST_CASE("ten thousand gangs that wait make no more lines than are allowed, and none is left out") {
  LogRig rig;
  constexpr int kGangs = 10'000;
  const auto all_wait = [&rig](const char* reason) {
    for (int i = 0; i < kGangs; ++i) rig.Waits(fmt::format("g{}", i), reason, "s");
  };
  all_wait("NoPlacement");
  CHECK(rig.lines.size() == 1'000);
  rig.Pass(1'000);
  CHECK(rig.lines.size() == 1'100);
  for (int second = 0; second < 600; ++second) {
    all_wait(second % 2 == 0 ? "QueueFull" : "NoPlacement");
    rig.Pass(1'000);
  }
  CHECK(rig.lines.size() <= 1'000 + 601 * 100);
  for (int second = 0; second < 300; ++second) rig.Pass(1'000);
  // Each is told with what it says now.
  std::vector<std::string> last(kGangs);
  for (const std::string& line : rig.lines) {
    const size_t at = line.find("default/g") + 9;
    last[std::stoul(line.substr(at))] = line;
  }
  for (const std::string& line : last) CHECK_THAT(line, Catch::Contains("reason=NoPlacement"));
}

TEST_CASE("lone pods and binds have lines from -v=2 on") {
  LogRig rig;
  const auto all = [&rig] {
    rig.Waits("p", "NoPlacement", "x", true);
    rig.Happens(Step::kBound, "p", "", true);
    rig.Happens(Step::kStarted, "p", "", true);
  };
  all();
  CHECK(rig.lines.empty());
  base::SetVerbosity(2);
  all();
  CHECK(rig.lines.size() == 2);
  CHECK(rig.lines.back() == "pod bound pod=default/p node=n");
}

TEST_CASE("undos and evictions say why, and a gang that is gone is forgotten") {
  LogRig rig;
  rig.Happens(Step::kUndone, "a", "not in time");
  rig.Happens(Step::kEvicted, "a", "not in time");
  CHECK(rig.lines == std::vector<std::string>{"gang undone gang=default/a dialect=volcano members=4 why=not in time",
                                              "pod evicted pod=default/p gang=default/a why=not in time"});
  rig.Waits("a", "NoPlacement", "x");
  rig.Waits("a", "QueueFull", "held back");
  rig.Happens(Step::kGone, "a");
  rig.Pass(20'000);
  CHECK(rig.lines.size() == 3);
}

}  // namespace
}  // namespace tutti::observe
