// SPDX-License-Identifier: Apache-2.0
#include "observe/audit_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "observe/wording.h"

namespace tutti::observe {
namespace {

constexpr base::Millis kPaceMs = 10'000;  // between two lines about the waits of one gang
constexpr double kAtOnce = 1'000;         // lines about waits
constexpr double kPerMs = 0.1;
constexpr int kVerbose = 2;

std::string Name(const model::GangKey& gang) { return fmt::format("{}/{}", gang.ns, gang.name); }

}  // namespace

AuditLog::AuditLog(const base::Clock& clock, Write write)
    : clock_(clock), write_(std::move(write)), allowance_(kAtOnce), filled_ms_(clock.MonotonicMs()) {}

void AuditLog::WriteInfo(std::string_view message, std::initializer_list<base::LogField> fields) {
  base::Log(base::LogLevel::kInfo, message, fields);
}

void AuditLog::OnHappening(const Happening& now) {
  const bool verbose = base::LogsAt(kVerbose);
  switch (now.step) {
    case Step::kWaits:
      if (!now.lone || verbose) OnWait(now);
      return;
    case Step::kBound:
      if (verbose) write_("pod bound", {{"pod", fmt::format("{}/{}", now.gang.ns, now.pod)}, {"node", now.node}});
      return;
    case Step::kStarted:
      waits_.erase(now.gang);
      if (!now.lone)
        write_("gang started", {{"gang", Name(now.gang)},
                                {"dialect", now.gang.dialect},
                                {"members", now.members},
                                {"seconds", now.seconds}});
      return;
    case Step::kUndone:
      write_(
          "gang undone",
          {{"gang", Name(now.gang)}, {"dialect", now.gang.dialect}, {"members", now.members}, {"why", now.sentence}});
      return;
    case Step::kEvicted:
      write_("pod evicted",
             {{"pod", fmt::format("{}/{}", now.gang.ns, now.pod)}, {"gang", Name(now.gang)}, {"why", now.sentence}});
      return;
    case Step::kGone: waits_.erase(now.gang); return;
  }
}

void AuditLog::OnWait(const Happening& now) {
  Wait& wait = waits_[now.gang];
  if (wait.told == now.reason && !wait.in_line) return;  // only figures changed
  wait.reason = now.reason;
  wait.queue = now.queue;
  wait.members = now.members;
  wait.message = Words{std::string(now.sentence), std::string(now.more)}.Full();
  if (wait.in_line) return;
  if (MayWrite(wait)) return WriteWait(now.gang, wait);
  wait.in_line = true;
  late_.push_back(now.gang);
}

bool AuditLog::MayWrite(const Wait& wait) {
  const base::Millis now = clock_.MonotonicMs();
  allowance_ = std::min(kAtOnce, allowance_ + kPerMs * static_cast<double>(now - std::exchange(filled_ms_, now)));
  return allowance_ >= 1 && now >= wait.not_before_ms;
}

void AuditLog::WriteWait(const model::GangKey& gang, Wait& wait) {
  allowance_ -= 1;
  wait.not_before_ms = clock_.MonotonicMs() + kPaceMs;
  wait.told = wait.reason;
  write_("gang waits", {{"gang", Name(gang)},
                        {"dialect", gang.dialect},
                        {"queue", wait.queue},
                        {"members", wait.members},
                        {"reason", wait.reason},
                        {"message", std::exchange(wait.message, "")}});
}

// Writes the lines that were held back, in their order: with an equal pace the first one is due first.
void AuditLog::WriteLate() {
  while (!late_.empty()) {
    const auto at = waits_.find(late_.front());
    if (at != waits_.end() && at->second.in_line) {
      auto& [gang, wait] = *at;
      if (wait.told != wait.reason) {
        if (!MayWrite(wait)) return;
        WriteWait(gang, wait);
      }
      wait.in_line = false;
    }
    late_.pop_front();
  }
}

void AuditLog::OnCycle(double, int64_t, const Gauges&) { WriteLate(); }

}  // namespace tutti::observe
