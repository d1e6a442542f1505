// SPDX-License-Identifier: Apache-2.0
// SvgPlot: draws lines over two logarithmic axes, as an SVG file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti::bench {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // all coordinates above 0
};

// Returns the text of the file. REQUIRES: some series has a point.
std::string SvgPlot(const std::string& title, const std::string& x_axis, const std::string& y_axis,
                    const std::vector<Series>& series);

}  // namespace tutti::bench
