// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/gang.h"

#include <fmt/format.h>

namespace tutti::core {

const observe::Words& Refusal::words() const {
  if (!words_) words_ = std::make_shared<const observe::Words>(observe::Say(*reason_));
  return *words_;
}

void Refusal::AddRemark(const std::string& remark) {
  observe::Reason reason = *reason_;
  reason.remark = remark;
  reason_ = std::make_shared<const observe::Reason>(std::move(reason));
  words_.reset();
}

void Refusal::KeepReasonOf(const Refusal& before) {
  reason_ = before.reason_;
  words_ = before.words_;
  figures_ms = before.figures_ms;
}

std::string MinResourcesText(const model::GangSpec& spec) {
  std::string text;
  if (spec.min_resources)
    for (const auto& [name, amount] : *spec.min_resources) text += fmt::format("|{}={}", name, amount);
  return text;
}

}  // namespace tutti::core
