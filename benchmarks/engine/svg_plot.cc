// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/engine/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tutti::bench {
namespace {

constexpr double kWidth = 760, kHeight = 460, kLeft = 80, kRight = 200, kTop = 50, kBottom = 60;
constexpr std::array<const char*, 6> kColours{"#1b6ca8", "#c8553d", "#3d8b5f", "#7a4fa3", "#b58900", "#555555"};

// An axis of whole decades that cover all values; it maps a value to a position between two ends.
struct Axis {
  double from = std::numeric_limits<double>::max(), to = std::numeric_limits<double>::lowest();
  void Take(double value) {
    from = std::min(from, std::floor(std::log10(value)));
    to = std::max(to, std::ceil(std::log10(value)));
  }
  double Place(double value, double begin, double end) const {
    return begin + (std::log10(value) - from) / std::max(1.0, to - from) * (end - begin);
  }
};

}  // namespace

std::string SvgPlot(const std::string& title, const std::string& x_axis, const std::string& y_axis,
                    const std::vector<Series>& series) {
  Axis x, y;
  for (const Series& line : series)
    for (const auto& [px, py] : line.points) x.Take(px), y.Take(py);
  const auto at_x = [&](double value) { return x.Place(value, kLeft, kWidth - kRight); };
  const auto at_y = [&](double value) { return y.Place(value, kHeight - kBottom, kTop); };

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"{2}\" y=\"28\" font-size=\"15\">{3}</text>\n",
      kWidth, kHeight, kLeft, title);
  const auto rule = [&svg](double x1, double y1, double x2, double y2) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2,
                       y2);
  };
  for (double decade = x.from; decade <= x.to; ++decade) {
    const double value = std::pow(10, decade);
    rule(at_x(value), kTop, at_x(value), kHeight - kBottom);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", at_x(value),
                       kHeight - kBottom + 18, value);
  }
  for (double decade = y.from; decade <= y.to; ++decade) {
    const double value = std::pow(10, decade);
    rule(kLeft, at_y(value), kWidth - kRight, at_y(value));
    svg +=
        fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", kLeft - 8, at_y(value) + 4, value);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kLeft + kWidth - kRight) / 2,
                     kHeight - 16, x_axis);
  svg += fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (kTop + kHeight - kBottom) / 2, y_axis);
  for (size_t i = 0; i < series.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    std::string path;
    for (const auto& [px, py] : series[i].points) path += fmt::format("{:.1f},{:.1f} ", at_x(px), at_y(py));
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
    for (const auto& [px, py] : series[i].points)
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", at_x(px), at_y(py), colour);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", kWidth - kRight + 12,
                       kTop + 16 + 20 * static_cast<double>(i), colour, series[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace tutti::bench
