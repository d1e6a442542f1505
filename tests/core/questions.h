// SPDX-License-Identifier: Apache-2.0
// Questions to a scheduler: what would become of gangs, or of a queue's line. Each leaves everything as it was.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/gang_draft.h"
#include "tests/core/whole_state.h"

namespace tutti::core {

inline std::optional<observe::Outlook> Rehearsed(Rig& rig, const observe::WhatIf& what_if) {
  rig.Settle();
  const std::string before = WholeStateOf(rig);
  const auto outlook = rig.scheduler->Rehearse(what_if);
  CHECK(WholeStateOf(rig) == before);
  rig.Settle();
  CHECK(WholeStateOf(rig) == before);
  return outlook;
}

inline observe::Outlook Asked(Rig& rig, const std::vector<model::GangDraft>& drafts) {
  const auto outlook = Rehearsed(rig, {.gangs = drafts, .drained = {}});
  REQUIRE(outlook);
  return *outlook;
}

inline std::optional<observe::Outlook> AskedLimit(Rig& rig, const std::string& queue, int64_t cpu,
                                                  const std::string& dialect = "", const std::string& flavor = "") {
  observe::LimitChange limit{dialect, queue, {}};
  limit.amounts[flavor].Set(model::kCpu, cpu * 1'000);
  return Rehearsed(rig, {.gangs = {}, .drained = {}, .limit = std::move(limit)});
}

// "six:fits eight:waits-for-queue"
inline std::string VerdictsOf(const std::optional<observe::Outlook>& outlook) {
  REQUIRE(outlook);
  std::string text;
  for (const observe::Prospect& it : outlook->prospects)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", it.gang.name, observe::Word(it.verdict));
  return text;
}

}  // namespace tutti::core
