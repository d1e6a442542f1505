// SPDX-License-Identifier: Apache-2.0
#include "core/passes/flush_pass.h"

#include <algorithm>

#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;

namespace {

// So many groups of gangs that have waited for long are tried again a second: ten thousand in five minutes, and few
// enough that no other gang waits for it.
constexpr int kFlushAtOnce = 32;
constexpr Millis kFlushRestMs = 1'000;

}  // namespace

void FlushPass::Run() {
  const Millis now = clock_.MonotonicMs();
  if (const auto at = DueAt(); !at || now < *at) return;
  not_before_ms_ = now + kFlushRestMs;
  for (int n = 0; n < kFlushAtOnce; ++n) {
    const auto waits_by = agenda_.Flush(now - options_.flush_after_ms);
    if (!waits_by) return;
    for (const auto& certificate : *waits_by) certificates_.EndOne(*certificate);
  }
}

std::optional<Millis> FlushPass::DueAt() const {
  const auto since = options_.flush_after_ms > 0 ? agenda_.LongestWait() : std::nullopt;
  if (!since) return std::nullopt;
  return std::max(*since + options_.flush_after_ms, not_before_ms_);
}

// A search that is cut off may find more each time: nothing has to happen for that, so it is not counted.
void FlushPass::Consider(model::GangId id) {
  const Gang& gang = book_.at(id);
  const auto held = [&gang] { return gang.plan ? gang.plan->open.size() : 0; };
  const bool counts = gang.refusal && !WasCutOff(*gang.refusal);
  const size_t before = held();
  consideration_.Run(id);
  if (counts) announcer_.Flushed(gang, held() > before);
}

}  // namespace tutti::core
