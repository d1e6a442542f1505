// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/manifest_hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti::sim {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

size_t Indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// Blank lines and comments have no say in it.
bool HasContent(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#';
}

// In quotes they are a text like any other.
bool HasHelmBraces(std::string_view line) {
  const size_t braces = line.find("{{");
  return HasContent(line) && braces != std::string_view::npos &&
         line.substr(0, braces).find_first_of("\"'") == std::string_view::npos;
}

// "indented by 3; the lines above are indented by 4 and by 2", if the line fits neither of its neighbours above.
std::string WrongIndentation(const std::vector<std::string_view>& lines, size_t at) {
  const size_t own = Indentation(lines[at]);
  size_t deeper = 0;
  for (size_t above = at; above-- > 0;) {
    if (!HasContent(lines[above])) continue;
    const size_t indentation = Indentation(lines[above]);
    if (indentation == own) return "";
    if (indentation > own) {
      deeper = indentation;
      continue;
    }
    if (deeper == 0) return "";
    return fmt::format("indented by {}; the lines above are indented by {} and by {}", own, deeper, indentation);
  }
  return "";
}

// "indented by 5, deeper than `a: b` above, which has its value already", if so.
std::string BelowValue(const std::vector<std::string_view>& lines, size_t at) {
  for (size_t above = at; above-- > 0;) {
    if (!HasContent(lines[above])) continue;
    std::string_view text = lines[above].substr(Indentation(lines[above]));
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    const size_t colon = text.find(": ");
    if (Indentation(lines[above]) >= Indentation(lines[at]) || colon == std::string_view::npos) return "";
    return fmt::format("indented by {}, deeper than `{}` above, which has its value already", Indentation(lines[at]),
                       text);
  }
  return "";
}

}  // namespace

std::string NotText(std::string_view text, const std::string& file) {
  if (!text.starts_with(kGzip)) return "";
  if (file == "-") return "-: standard input is gzip: put gunzip before tutti";
  return fmt::format("{} is gzip: gunzip -c {} | tutti ... -", file, file);
}

std::string WhyNotYaml(std::string_view text, int first_line, int line, const std::string& words) {
  const std::vector<std::string_view> lines = LinesOf(text);
  const auto number = [&](size_t at) { return first_line + static_cast<int>(at); };
  for (size_t at = 0; at < lines.size(); ++at)
    if (HasHelmBraces(lines[at]))
      return fmt::format("line {}: this is a Helm template ({{{{ ... }}}}): helm template CHART | tutti ... -",
                         number(at));
  // The parser may see the fault a line later, or at the end.
  const size_t last = std::min(lines.size(), static_cast<size_t>(std::max(line, 0)) + 1);
  for (size_t at = 0; at < last; ++at)
    if (HasContent(lines[at]) && lines[at].substr(Indentation(lines[at])).starts_with('\t'))
      return fmt::format("line {} begins with a tab; YAML wants spaces", number(at));
  if (line >= 0 && last == static_cast<size_t>(line) + 1)
    if (const std::string why = WrongIndentation(lines, static_cast<size_t>(line)); !why.empty())
      return fmt::format("line {}: {}", first_line + line, why);
  if (words == "illegal map value" && last == static_cast<size_t>(line) + 1)
    if (const std::string why = BelowValue(lines, static_cast<size_t>(line)); !why.empty())
      return fmt::format("line {}: {}", first_line + line, why);
  return fmt::format("line {}: {}", first_line + std::max(line, 0), words);
}

}  // namespace tutti::sim
