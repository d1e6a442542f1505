// SPDX-License-Identifier: Apache-2.0
#include "server/health.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::server {
namespace {

std::string Ask(const HealthCheck& check, const HealthQuestion& question) {
  std::string problem = check.problem();
  if (question.asked) question.asked(check.name, problem.empty());
  return problem;
}

// Says which of the excluded names no check has.
std::string Unmatched(const std::vector<HealthCheck>& checks, const HealthQuestion& question) {
  std::vector<std::string> names;
  for (const std::string& name : question.excluded)
    if (std::ranges::find(checks, name, &HealthCheck::name) == checks.end())
      names.push_back(fmt::format("\"{}\"", name));
  if (names.empty()) return "";
  return fmt::format("warn: some health checks cannot be excluded: no matches for {}\n", fmt::join(names, ","));
}

}  // namespace

HealthAnswer AskHealth(const std::vector<HealthCheck>& checks, const HealthQuestion& question) {
  HealthAnswer answer;
  std::string list;
  for (const HealthCheck& check : checks) {
    if (std::ranges::find(question.excluded, check.name) != question.excluded.end()) {
      list += fmt::format("[+]{} excluded: ok\n", check.name);
      continue;
    }
    const std::string problem = Ask(check, question);
    list += problem.empty() ? fmt::format("[+]{} ok\n", check.name)
                            : fmt::format("[-]{} failed: {}\n", check.name, problem);
    answer.well = answer.well && problem.empty();
  }
  list += Unmatched(checks, question);
  if (!answer.well) {
    answer.text = fmt::format("{}{} check failed\n", list, question.path);
  } else {
    answer.text = question.verbose ? fmt::format("{}{} check passed\n", list, question.path) : "ok";
  }
  return answer;
}

HealthAnswer AskHealth(const HealthCheck& check, const HealthQuestion& question) {
  const std::string problem = Ask(check, question);
  if (problem.empty()) return {true, "ok"};
  return {false, fmt::format("internal server error: {}\n", problem)};
}

}  // namespace tutti::server
