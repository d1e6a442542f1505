// SPDX-License-Identifier: Apache-2.0
// /livez, /readyz and /healthz: named checks, each of which is well or says what is wrong.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::server {

struct HealthCheck {
  std::string name;
  // Empty when all is well; else what is wrong. Called on server threads.
  std::function<std::string()> problem;
};

struct HealthQuestion {
  std::string_view path;              // "livez"
  bool verbose = false;               // every check is listed, as when one is not well
  std::vector<std::string> excluded;  // names of checks that are not asked
  // Told of each check that was asked; may be empty.
  std::function<void(std::string_view check, bool well)> asked;
};

struct HealthAnswer {
  bool well = true;
  std::string text;  // in kube-scheduler's form
};

HealthAnswer AskHealth(const std::vector<HealthCheck>& checks, const HealthQuestion& question);

// One check alone, as under /livez/ping.
HealthAnswer AskHealth(const HealthCheck& check, const HealthQuestion& question);

}  // namespace tutti::server
