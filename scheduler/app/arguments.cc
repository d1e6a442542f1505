// SPDX-License-Identifier: Apache-2.0
#include "app/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "base/closest.h"

namespace tutti::app {
namespace {

// Returns "; did you mean --config?" for an unknown flag, or the flags that there are.
std::string Meant(const CLI::App& main) {
  constexpr size_t kFew = 20;
  std::vector<std::string_view> known;
  for (const CLI::App* verb : main.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back(name);
    }
  }
  bool unknown_flag = false;
  for (const std::string& left : main.remaining(true)) {
    if (left == "-f") return "; manifests are given without a flag: tutti simulate FILE";
    if (!left.starts_with("--")) continue;
    unknown_flag = true;
    const std::string name = left.substr(2, left.find('=') - 2);
    if (const std::string_view meant = base::Closest(name, known); !meant.empty())
      return fmt::format("; did you mean --{}?", meant);
  }
  return unknown_flag && !known.empty() && known.size() <= kFew
             ? fmt::format("; known are --{}", fmt::join(known, ", --"))
             : "";
}

}  // namespace

std::vector<std::string> GoArguments(int argc, char** argv, int first) {
  std::vector<std::string> arguments;
  for (int i = first; i < argc; ++i) {
    std::string text = argv[i];
    const size_t equals = text.find('=');
    const bool is_long = text.starts_with("--");
    if (!is_long && text.starts_with("-") && equals == 2) text.erase(equals, 1);
    const bool empty = is_long && equals != std::string::npos && equals + 1 == text.size();
    if (empty) text.pop_back();
    arguments.push_back(std::move(text));
    if (empty) arguments.emplace_back();
  }
  return arguments;
}

void TurnHelpIntoFlag(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

std::string UnknownVerb(const CLI::App& main, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) return "";
  std::vector<std::string_view> known = {"help"};
  for (const CLI::App* verb : main.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(verb->get_name());
  if (std::ranges::count(known, arguments[0]) > 0) return "";
  const std::string_view meant = base::Closest(arguments[0], known);
  return fmt::format(
      "unknown command \"{}\"; {}", arguments[0],
      meant.empty() ? fmt::format("known are {}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", meant));
}

std::string ParseFailure(const CLI::App* main, const CLI::Error& error) {
  const bool unknown = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return fmt::format("{}{}\nRun with --help for more information.\n", error.what(), unknown ? Meant(*main) : "");
}

}  // namespace tutti::app
