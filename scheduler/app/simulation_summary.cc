// SPDX-License-Identifier: Apache-2.0
#include "app/simulation_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/output.h"

namespace tutti::app {
namespace {

using base::Millis;
using Gang = SimulationSummary::Gang;

constexpr size_t kIntervals = 10;  // of the table of GPU use
constexpr size_t kShown = 10;      // the most gangs that are listed as short

std::string Seconds(Millis ms) { return fmt::format("{:g} s", static_cast<double>(ms) / 1000); }

// GPU-milliseconds in use, and in all, within [from, to).
struct Area {
  double used = 0, capacity = 0;
  double percent() const { return capacity > 0 ? 100 * used / capacity : 0; }
};

Area AreaOf(const SimulationSummary& summary, Millis from, Millis to) {
  Area area;
  for (size_t i = 0; i < summary.gpus.size(); ++i) {
    const auto& use = summary.gpus[i];
    const Millis until = i + 1 < summary.gpus.size() ? summary.gpus[i + 1].at_ms : summary.end_ms;
    const auto lasts = static_cast<double>(std::max<Millis>(0, std::min(until, to) - std::max(use.at_ms, from)));
    area.used += lasts * static_cast<double>(use.used);
    area.capacity += lasts * static_cast<double>(use.capacity);
  }
  return area;
}

std::string Waits(const std::vector<Gang>& gangs) {
  std::vector<const Gang*> whole;
  for (const Gang& gang : gangs)
    if (gang.whole_ms) whole.push_back(&gang);
  if (whole.empty()) return "";
  const auto wait = [](const Gang* gang) { return *gang->whole_ms - gang->arrived_ms; };
  std::ranges::stable_sort(whole, {}, wait);
  // Nearest rank: `percent` of the gangs waited no longer than this.
  const auto rank = [&](size_t percent) {
    return Seconds(wait(whole[std::max<size_t>(1, (whole.size() * percent + 99) / 100) - 1]));
  };
  const auto longest = std::ranges::find(whole, wait(whole.back()), wait);
  return fmt::format("waits: median {}, 95 % {}, longest {} ({})\n", rank(50), rank(95), Seconds(wait(*longest)),
                     (*longest)->name);
}

std::string UseTable(const SimulationSummary& summary) {
  if (summary.gpus.empty() || summary.end_ms <= 0) return "";
  int64_t most = 0;
  for (const auto& use : summary.gpus) most = std::max(most, use.used);
  const Area all = AreaOf(summary, 0, summary.end_ms);
  std::string text =
      fmt::format("GPU use: {:.0f} % of the time and GPUs there were; {} in use at most\n", all.percent(), most);
  if (most == 0) return text;
  Table table({"SECONDS", "GPUS IN USE", "OF", "PERCENT"});
  const auto share = static_cast<double>(summary.end_ms) / kIntervals;
  for (size_t i = 0; i < kIntervals; ++i) {
    const auto from = static_cast<Millis>(share * static_cast<double>(i));
    const auto to = static_cast<Millis>(share * static_cast<double>(i + 1));
    if (to <= from) continue;
    const Area area = AreaOf(summary, from, to);
    const auto lasts = static_cast<double>(to - from);
    table.Add({fmt::format("{:.0f}-{:.0f}", static_cast<double>(from) / 1000, static_cast<double>(to) / 1000),
               fmt::format("{:.1f}", area.used / lasts), fmt::format("{:.1f}", area.capacity / lasts),
               fmt::format("{:.0f}", area.percent())});
  }
  return text + table.Text();
}

std::string Short(const std::vector<Gang>& gangs) {
  std::vector<const Gang*> waiting;
  for (const Gang& gang : gangs)
    if (!gang.waits_for.empty()) waiting.push_back(&gang);
  if (waiting.empty()) return "still short: nothing\n";
  std::string text = fmt::format("still short: {} gang{}\n", waiting.size(), waiting.size() == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(kShown, waiting.size()); ++i)
    text += fmt::format("  {}: {}\n", waiting[i]->name, waiting[i]->waits_for);
  if (waiting.size() > kShown) text += fmt::format("  and {} more\n", waiting.size() - kShown);
  return text;
}

}  // namespace

std::string SummaryText(const SimulationSummary& summary) {
  const auto whole = std::ranges::count_if(summary.gangs, [](const Gang& gang) { return gang.whole_ms.has_value(); });
  return fmt::format("gangs whole: {} of {}, in {}\n", whole, summary.gangs.size(), Seconds(summary.end_ms)) +
         Waits(summary.gangs) + UseTable(summary) + Short(summary.gangs);
}

}  // namespace tutti::app
