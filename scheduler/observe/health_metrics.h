// SPDX-License-Identifier: Apache-2.0
// HealthMetrics: the content of /metrics/slis: how often each health check was run, with which result. The names are
// those of Kubernetes' components. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tutti::observe {

class HealthMetrics {
 public:
  HealthMetrics();
  ~HealthMetrics();

  // Counts one check. `type`: "livez"; `check`: "ping".
  void Count(std::string_view type, std::string_view check, bool well);
  // Renders Prometheus' text.
  std::string Text() const;

 private:
  struct Registry;
  const std::unique_ptr<Registry> registry_;
};

}  // namespace tutti::observe
