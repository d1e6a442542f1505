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

struct HealthAnswer {
  bool well = true;
  std::string text;  // in kube-scheduler's form
};

// `path`: "livez". Lists every check when `verbose`, or when one is not well.
HealthAnswer AskHealth(std::string_view path, const std::vector<HealthCheck>& checks, bool verbose);

}  // namespace tutti::server
