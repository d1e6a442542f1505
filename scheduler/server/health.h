// SPDX-License-Identifier: Apache-2.0
// /livez, /readyz and /healthz: named checks. Each passes or says what is wrong.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::server {

struct HealthCheck {
  std::string name;
  // Returns what is wrong; empty when all is well. Called on server threads.
  std::function<std::string()> problem;
};

struct HealthQuestion {
  std::string_view path;              // "livez"
  bool verbose = false;               // lists every check, as is done when one fails
  std::vector<std::string> excluded;  // names of checks that are not run
  // Called for each check that was run; may be empty.
  std::function<void(std::string_view check, bool well)> asked;
};

struct HealthAnswer {
  bool well = true;
  std::string text;  // in kube-scheduler's form
};

HealthAnswer AskHealth(const std::vector<HealthCheck>& checks, const HealthQuestion& question);

// Runs one check alone, as for /livez/ping.
HealthAnswer AskHealth(const HealthCheck& check, const HealthQuestion& question);

}  // namespace tutti::server
