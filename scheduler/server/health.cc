// SPDX-License-Identifier: Apache-2.0
#include "server/health.h"

#include <fmt/format.h>

namespace tutti::server {

HealthAnswer AskHealth(std::string_view path, const std::vector<HealthCheck>& checks, bool verbose) {
  HealthAnswer answer;
  std::string list;
  for (const HealthCheck& check : checks) {
    const std::string problem = check.problem();
    list += problem.empty() ? fmt::format("[+]{} ok\n", check.name)
                            : fmt::format("[-]{} failed: {}\n", check.name, problem);
    answer.well = answer.well && problem.empty();
  }
  if (!answer.well) {
    answer.text = fmt::format("{}{} check failed\n", list, path);
  } else {
    answer.text = verbose ? fmt::format("{}{} check passed\n", list, path) : "ok";
  }
  return answer;
}

}  // namespace tutti::server
