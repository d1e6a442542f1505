// SPDX-License-Identifier: Apache-2.0
// The drawing of a simulation: SummarySvg.
#include <fmt/format.h>

#include <algorithm>

#include "app/output.h"
#include "app/simulation_summary.h"

namespace tutti::app {
namespace {

using base::Millis;

constexpr double kWidth = 900, kLeft = 70, kRight = 20, kTop = 40, kUse = 180, kGap = 40;
constexpr double kMostOfGangs = 4'000;  // height of all gangs' lines
constexpr const char* kStrong = "#1b6ca8";
constexpr const char* kPale = "#e0a899";

struct Drawing {
  const SimulationSummary& summary;
  std::string svg;

  double X(Millis at) const {
    return kLeft + static_cast<double>(at) / static_cast<double>(std::max<Millis>(1, summary.end_ms)) *
                       (kWidth - kLeft - kRight);
  }
  void Text(double x, double y, std::string_view anchor, std::string_view text) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       EscapedMarkup(text));
  }
  void Bar(double from, double to, double y, double height, const char* colour, const std::string& title) {
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"><title>{}</title></rect>\n",
        from, y, std::max(0.5, to - from), height, colour, EscapedMarkup(title));
  }

  // Draws the GPUs in use as steps, below the line of the capacity.
  void Use() {
    int64_t most = 1;
    for (const auto& use : summary.gpus) most = std::max({most, use.used, use.capacity});
    const auto y = [&](int64_t value) {
      return kTop + kUse * (1 - static_cast<double>(value) / static_cast<double>(most));
    };
    std::string used = fmt::format("{:.1f},{:.1f}", X(0), y(0)), there = used;
    int64_t last_used = 0, last_there = 0;
    for (const auto& use : summary.gpus) {
      used += fmt::format(" {0:.1f},{1:.1f} {0:.1f},{2:.1f}", X(use.at_ms), y(last_used), y(use.used));
      there += fmt::format(" {0:.1f},{1:.1f} {0:.1f},{2:.1f}", X(use.at_ms), y(last_there), y(use.capacity));
      last_used = use.used, last_there = use.capacity;
    }
    used += fmt::format(" {0:.1f},{1:.1f} {0:.1f},{2:.1f}", X(summary.end_ms), y(last_used), y(0));
    there += fmt::format(" {:.1f},{:.1f}", X(summary.end_ms), y(last_there));
    svg += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", used, kStrong);
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#555\"/>\n", there);
    Text(kLeft, kTop - 12, "start", "GPUs in use");
    Text(kLeft - 8, kTop + 4, "end", fmt::format("{}", most));
    Text(kLeft - 8, kTop + kUse, "end", "0");
  }

  // Returns the height of one gang's line.
  double Line() const {
    return std::min(12.0, kMostOfGangs / static_cast<double>(std::max<size_t>(1, summary.gangs.size())));
  }
  void Gangs() {
    double y = kTop + kUse + kGap;
    Text(kLeft, y - 12, "start", "gangs by arrival: pale while one waits, strong while it runs");
    for (const auto& gang : summary.gangs) {
      const Millis ended = gang.ended_ms.value_or(summary.end_ms), whole = gang.whole_ms.value_or(ended);
      if (whole > gang.arrived_ms) Bar(X(gang.arrived_ms), X(whole), y, Line() * 0.8, kPale, gang.name + " waits");
      if (gang.whole_ms) Bar(X(whole), X(ended), y, Line() * 0.8, kStrong, gang.name + " runs");
      y += Line();
    }
  }
};

}  // namespace

std::string SummarySvg(const SimulationSummary& summary) {
  Drawing drawing{summary, ""};
  const double height = kTop + kUse + kGap + drawing.Line() * static_cast<double>(summary.gangs.size()) + kGap;
  drawing.svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"white\"/>\n",
      kWidth, height);
  drawing.Use();
  drawing.Gangs();
  for (int i = 0; i <= 4; ++i) {
    const Millis at = summary.end_ms * i / 4;
    drawing.Text(drawing.X(at), height - 12,
                 i == 0   ? "start"
                 : i == 4 ? "end"
                          : "middle",
                 fmt::format("{:g} s", static_cast<double>(at) / 1000));
  }
  return drawing.svg + "</svg>\n";
}

}  // namespace tutti::app
