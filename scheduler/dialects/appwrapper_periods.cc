// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_periods.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/declaration.h"
#include "dialects/pause.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

using base::Millis;

constexpr Millis kDayMs = 86'400'000;

// A length of time as Go writes it, in whole numbers: "90s", "1h30m". nullopt: it is none.
std::optional<Millis> ParseLength(std::string_view text) {
  constexpr std::pair<std::string_view, Millis> kUnits[] = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  Millis sum = 0;
  while (!text.empty()) {
    int64_t amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
    if (error != std::errc() || amount < 0) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    const auto unit = std::ranges::find(kUnits, text.substr(0, letters), [](const auto& row) { return row.first; });
    if (unit == std::end(kUnits)) return std::nullopt;
    text.remove_prefix(letters);
    sum = model::SaturatingAdd(sum, model::SaturatingMul(amount, unit->second));
  }
  return sum;
}

void ReadPeriod(const model::StringMap& annotations, std::string_view name, Millis longest_ms, Millis* to) {
  const std::string* text = model::Find(annotations, fmt::format("workload.codeflare.dev.appwrapper/{}", name));
  if (!text) return;
  if (const auto length = ParseLength(*text)) *to = std::min(*length, longest_ms);
}

Millis ReadSeconds(cluster::JsonReader& read, const cluster::JsonField& field, int64_t fallback) {
  return ReadCount(read, field, fallback, 0) * 1'000;
}

}  // namespace

WrapperPeriods ReadPeriods(const model::StringMap& annotations) {
  WrapperPeriods periods;
  ReadPeriod(annotations, "admissionGracePeriodDuration", kDayMs, &periods.admission_ms);
  ReadPeriod(annotations, "warmupGracePeriodDuration", kDayMs, &periods.warmup_ms);
  ReadPeriod(annotations, "failureGracePeriodDuration", kDayMs, &periods.failure_ms);
  ReadPeriod(annotations, "retryPausePeriodDuration", kDayMs, &periods.pause_ms);
  ReadPeriod(annotations, "deletionOnFailureGracePeriodDuration", kDayMs, &periods.keep_failed_ms);
  ReadPeriod(annotations, "successTTLDuration", periods.success_ttl_ms, &periods.success_ttl_ms);
  const std::string* limit = model::Find(annotations, "workload.codeflare.dev.appwrapper/retryLimit");
  int32_t value = 0;
  if (limit && std::from_chars(limit->data(), limit->data() + limit->size(), value).ec == std::errc())
    periods.retry_limit = std::max(value, 0);
  return periods;
}

Requeuing ReadRequeuing(cluster::JsonReader& read, const cluster::JsonField& spec) {
  Requeuing requeuing;
  const cluster::JsonField again = spec["requeuing"], dispatch = spec["dispatchDuration"];
  requeuing.min_available = ReadCount(read, spec["minAvailable"], 0, 0);
  requeuing.first_ms = ReadSeconds(read, again["timeInSeconds"], 300);
  requeuing.longest_ms = ReadSeconds(read, again["maxTimeInSeconds"], 0);
  requeuing.most = ReadCount(read, again["maxNumRequeuings"], 0, 0);
  requeuing.dispatch_limit_ms = ReadSeconds(read, dispatch["limit"], 0);
  const cluster::JsonField growth = again["growthType"];
  const std::string named = read.Text(growth);
  if (named == "linear")
    requeuing.growth = Requeuing::Growth::kLinear;
  else if (named == "none")
    requeuing.growth = Requeuing::Growth::kNone;
  else if (!named.empty() && named != "exponential")
    read.Problem(growth,
                 fmt::format("{} is no growth; write exponential, linear or none", cluster::Describe(growth.value())));
  return requeuing;
}

Millis PauseAfter(const Requeuing& requeuing, int64_t times) {
  Millis pause = requeuing.first_ms;
  if (requeuing.growth == Requeuing::Growth::kExponential)
    pause = DoubledPause(pause, times);
  else if (requeuing.growth == Requeuing::Growth::kLinear)
    pause = model::SaturatingMul(pause, times + 1);
  constexpr Millis kLongestMs = kLargestCount * 1'000;  // the status counts seconds in int32
  return std::min(pause, requeuing.longest_ms > 0 ? requeuing.longest_ms : kLongestMs);
}

}  // namespace tutti::dialects
