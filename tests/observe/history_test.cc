// SPDX-License-Identifier: Apache-2.0
#include "observe/history.h"

#include <fmt/format.h>

#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

using Step = Observer::Step;

const model::GangKey kA{"volcano", "ns", "a"}, kB{"volcano", "ns", "b"};

void Happen(History& history, Step step, const model::GangKey& gang, std::string_view reason = "") {
  history.OnHappening({.step = step, .gang = gang, .reason = reason});
}

std::vector<std::string> StepsOf(const History& history, const std::string& name) {
  std::vector<std::string> steps;
  for (const History::OfGang& gang : history.Of("ns", name, "").gangs)
    for (const HistoryEvent& event : gang.events) steps.push_back(fmt::format("{} {}", event.step, event.times));
  return steps;
}

TEST_CASE("equal steps in a row are one event that counts them") {
  base::VirtualClock clock{1'000};
  History history(clock);
  Happen(history, Step::kWaits, kA, "NoPlacement");
  clock.Advance(500);
  Happen(history, Step::kWaits, kA, "NoPlacement");
  Happen(history, Step::kWaits, kA, "QueueFull");
  Happen(history, Step::kBound, kB);
  Happen(history, Step::kBound, kA);
  Happen(history, Step::kBound, kA);
  Happen(history, Step::kStarted, kA);
  CHECK(StepsOf(history, "a") == std::vector<std::string>{"waits 2", "waits 1", "bound 2", "started 1"});
  const HistoryEvent first = history.Of("ns", "a", "volcano").gangs.at(0).events.at(0);
  CHECK(first.last_ms - first.at_ms == 500);
  CHECK(history.Of("ns", "a", "kuberay").gangs.empty());
  CHECK(history.Of("ns", "c", "").gangs.empty());
}

TEST_CASE("the oldest event of all goes first, and the history says from when on it is whole") {
  base::VirtualClock clock{1'000};
  History history(clock, 2);
  const base::Millis born = clock.WallMs();
  Happen(history, Step::kWaits, kA);
  CHECK(history.Of("ns", "a", "").whole_from_ms == born);
  clock.Advance(10);
  Happen(history, Step::kStarted, kB);
  clock.Advance(10);
  Happen(history, Step::kGone, kB);
  CHECK(StepsOf(history, "a").empty());
  CHECK(history.Of("ns", "b", "").whole_from_ms == born);
  clock.Advance(10);
  Happen(history, Step::kWaits, kA);
  CHECK(StepsOf(history, "b") == std::vector<std::string>{"gone 1"});
  CHECK(history.Of("ns", "b", "").whole_from_ms == born + 10);
}

TEST_CASE("an event that goes on is kept longer than one that ended before") {
  base::VirtualClock clock{1'000};
  History history(clock, 2);
  Happen(history, Step::kWaits, kA);
  Happen(history, Step::kStarted, kB);
  Happen(history, Step::kWaits, kA);
  Happen(history, Step::kGone, kB);
  CHECK(StepsOf(history, "a") == std::vector<std::string>{"waits 2"});
  CHECK(StepsOf(history, "b") == std::vector<std::string>{"gone 1"});
}

TEST_CASE("a gang to which very much happens does not push out what happened to others") {
  base::VirtualClock clock{1'000};
  History history(clock, History::kMostOfGang + 10);
  const base::Millis born = clock.WallMs();
  Happen(history, Step::kStarted, kB);
  for (size_t i = 0; i < History::kMostOfGang; ++i) {
    clock.Advance(1);
    Happen(history, i % 2 == 0 ? Step::kStarted : Step::kUndone, kA);
  }
  CHECK(history.Of("ns", "a", "").whole_from_ms == born);
  for (size_t i = 0; i < 100; ++i) Happen(history, i % 2 == 0 ? Step::kStarted : Step::kUndone, kA);
  CHECK(StepsOf(history, "a").size() == History::kMostOfGang);
  CHECK(history.Of("ns", "a", "").whole_from_ms == born + 100);
  CHECK(StepsOf(history, "b") == std::vector<std::string>{"started 1"});
  CHECK(history.Of("ns", "b", "").whole_from_ms == born);
}

}  // namespace
}  // namespace tutti::observe
