// SPDX-License-Identifier: Apache-2.0
#include "app/view_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti::app {

using Kind = doors::Failure::Kind;

doors::DoorResult<observe::Outlook> ViewSource::Ask(const doors::Question& question) {
  observe::WhatIf what_if{.gangs = {}, .drained = question.node, .limit = question.limit, .waits = question.waits};
  const bool of_manifests = question.node.empty() && !question.limit && !question.waits;
  std::vector<std::string> notes;
  if (of_manifests) {
    auto read = reader_.Read(question.manifests, question.ns);
    if (!read) return doors::Fail(Kind::kInvalid, read.error().message);
    for (const model::GangDraft& draft : read->drafts)
      if (const doors::DoorResult<void> may = question.may_ask(draft.key.ns); !may)
        return tl::make_unexpected(may.error());
    notes = std::move(read->notes);
    what_if.gangs = std::move(read->drafts);
  }
  auto answer = views_.Ask([what_if = std::make_shared<const observe::WhatIf>(std::move(what_if))](
                               core::Scheduler& scheduler) { return scheduler.Rehearse(*what_if); });
  if (!answer) return doors::Fail(Kind::kUnavailable, answer.error().message);
  if (*answer) {
    std::ranges::move(notes, std::back_inserter((*answer)->notes));
    return **std::move(answer);
  }
  if (const std::string not_leading = NotLeading(); !not_leading.empty())
    return doors::Fail(Kind::kUnavailable, not_leading);
  if (of_manifests) return doors::Fail(Kind::kUnavailable, "the scheduler does not decide yet; try again");
  if (question.waits) return doors::Fail(Kind::kNotFound, "there is no such gang any more");
  if (!question.limit) return doors::Fail(Kind::kNotFound, fmt::format("there is no node {}", question.node));
  return doors::Fail(
      Kind::kNotFound,
      fmt::format("there is no queue {}, or there are several; name its dialect", question.limit->queue));
}

}  // namespace tutti::app
