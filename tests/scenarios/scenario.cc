// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "sim/objects/yaml.h"

namespace tutti::scenarios {
namespace {

using base::Invalid;
using sim::Json;

const std::set<std::string, std::less<>> kWords = {"name",  "kuberay", "config",  "loose",
                                                   "nodes", "pods",    "objects", "steps"};

base::Status CheckWords(const Json& content, const std::string& where) {
  for (const auto& [word, value] : content.items())
    if (!kWords.contains(word)) return Invalid(fmt::format("{}: unknown word \"{}\"", where, word));
  return {};
}

base::Result<Scenario> ParseScenario(const std::string& text, const std::string& file, int line) {
  auto document = sim::ParseYaml(text, line);
  if (!document) return Invalid(fmt::format("{}: {}", file, document.error().message));
  Scenario scenario{.name = "", .where = fmt::format("{}:{}", file, document->line), .content = document->value};
  if (!document->duplicate.empty()) return Invalid(fmt::format("{}: {}", file, document->duplicate));
  if (!scenario.content.is_object()) return Invalid(scenario.where + ": not a map");
  scenario.name = sim::DigString(scenario.content, "name");
  if (scenario.name.empty()) return Invalid(scenario.where + ": the scenario has no name");
  if (const base::Status known = CheckWords(scenario.content, scenario.where); !known)
    return tl::make_unexpected(known.error());
  const Json& steps = sim::ArrayOf(sim::Dig(scenario.content, "steps"));
  if (std::ranges::none_of(steps, [](const Json& step) { return step.contains("expect"); }))
    return Invalid(scenario.where + ": no step expects anything");
  return scenario;
}

base::Status LoadFile(const std::string& file, std::vector<Scenario>* scenarios) {
  std::ifstream in(file);
  if (!in) return Invalid(file + ": cannot be read");
  std::set<std::string> names;
  std::string text;
  int line = 0, begin = 1;
  const auto flush = [&]() -> base::Status {
    if (text.find_first_not_of(" \n") == std::string::npos) return {};
    auto scenario = ParseScenario(text, file, begin);
    if (!scenario) return tl::make_unexpected(scenario.error());
    if (!names.insert(scenario->name).second) return Invalid(scenario->where + ": the name is there twice");
    scenarios->push_back(*std::move(scenario));
    return {};
  };
  for (std::string one; std::getline(in, one);) {
    ++line;
    if (one == "---") {
      if (const base::Status added = flush(); !added) return added;
      text.clear();
      begin = line + 1;
    } else if (!(text.empty() && one.starts_with("#"))) {
      text += one + "\n";
    } else {
      begin = line + 1;
    }
  }
  return flush();
}

}  // namespace

base::Result<std::vector<Scenario>> LoadScenarios(const std::string& path) {
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::ranges::sort(files);
  } else {
    files.push_back(path);
  }
  std::vector<Scenario> scenarios;
  for (const std::string& file : files)
    if (const base::Status loaded = LoadFile(file, &scenarios); !loaded) return tl::make_unexpected(loaded.error());
  return scenarios;
}

}  // namespace tutti::scenarios
