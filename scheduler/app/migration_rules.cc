// SPDX-License-Identifier: Apache-2.0
#include "app/migration_rules.h"

#include <fmt/format.h>

#include <regex>
#include <utility>

#include "app/embedded_files.h"
#include "base/check.h"
#include "base/json.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

using base::Json;

// Markdown without the signs of code and links.
std::string PlainText(const std::string& cell) {
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))"), signs(R"([`]|\s*<!--.*?-->|^\s+|\s+$)");
  return std::regex_replace(std::regex_replace(cell, link, "$1"), signs, "");
}

// Returns the value at a JSON pointer; null: there is none.
const Json& AtPointer(const Json& object, const std::string& pointer) {
  static const Json none;
  const Json::json_pointer at(pointer);
  return object.contains(at) ? object.at(at) : none;
}

base::Result<MigrationRule> ReadComment(const std::string& comment) {
  static const std::regex form(
      R"((taken|different|not): (\w+)(?:\.([\w.-]+))?(?::([\w-]+)/([\w.-]+))?(?: (/\S+)(?: ([=~]) (.+))?)?)");
  std::smatch parts;
  if (!std::regex_match(comment, parts, form))
    return base::Invalid(fmt::format("\"{}\" is no rule", comment));
  MigrationRule rule;
  rule.verdict = parts[1] == "taken"       ? MigrationRule::Verdict::kTaken
                 : parts[1] == "different" ? MigrationRule::Verdict::kDifferent
                                           : MigrationRule::Verdict::kNot;
  rule.kind = parts[2];
  rule.group = parts[3];
  rule.ns = parts[4];
  rule.name = parts[5];
  rule.pointer = parts[6];
  if (parts[7].matched) rule.sign = *parts[7].first;
  rule.value = parts[8];
  return rule;
}

}  // namespace

bool MigrationRule::Finds(const Json& object) const {
  if (!name.empty() && (sim::NamespaceOf(object) != ns || sim::NameOf(object) != name)) return false;
  const Json& found = AtPointer(object, pointer);
  if (sign == ' ') return !found.is_null();
  const std::string text = found.is_string()    ? found.get<std::string>()
                           : found.is_boolean() ? (found.get<bool>() ? "true" : "false")
                                                : std::string();
  return sign == '=' ? text == value : text.find(value) != std::string::npos;
}

base::Result<std::vector<MigrationRule>> ReadMigrationRules(std::string_view page) {
  static const std::regex comment(R"(<!-- (.*?) -->)");
  constexpr std::string_view kTitle = "# From ", kTo = " to ";
  std::vector<MigrationRule> rules;
  std::string system;
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = std::min(page.find('\n', begin), page.size());
    const std::string line(page.substr(begin, end - begin));
    begin = end + 1;
    if (line.starts_with(kTitle)) system = line.substr(kTitle.size(), line.find(kTo) - kTitle.size());
    const size_t middle = line.find(" | ");
    if (!line.starts_with("| ") || middle == std::string::npos) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), comment), last; at != last; ++at) {
      auto rule = ReadComment((*at)[1]);
      if (!rule) return tl::make_unexpected(rule.error());
      rule->system = system;
      rule->what = PlainText(line.substr(2, middle - 2));
      rule->answer = PlainText(line.substr(middle + 3, line.rfind('|') - middle - 3));
      rules.push_back(*std::move(rule));
    }
  }
  return rules;
}

std::vector<MigrationRule> MigrationRules() {
  std::vector<MigrationRule> rules;
  for (const EmbeddedFile& page : EmbeddedMigrations()) {
    auto read = ReadMigrationRules(page.text);
    TUTTI_CHECK(read.has_value(), "a page of docs/migrate has a comment that is no rule");
    rules.insert(rules.end(), read->begin(), read->end());
  }
  return rules;
}

}  // namespace tutti::app
