// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/gangs/gang.h"

namespace tutti::core {

const observe::Words& WordedReason::words() const {
  if (!words_) words_ = std::make_shared<const observe::Words>(observe::Say(*reason_));
  return *words_;
}

void Refusal::AddRemark(const std::string& remark) {
  observe::Reason reason = this->reason();
  reason.remark = remark;
  why = WordedReason(std::move(reason));
}

void Refusal::KeepReasonOf(const Refusal& before) {
  why = before.why;
  figures_ms = before.figures_ms;
}

std::string OtherAsksText(const model::GangSpec& spec) {
  std::string text;
  if (spec.min_resources)
    for (const auto& [name, amount] : *spec.min_resources) text += fmt::format("|{}={}", name, amount);
  for (const std::string& queue : spec.further_queues) text += fmt::format("|{}", queue);
  return text;
}

}  // namespace tutti::core
