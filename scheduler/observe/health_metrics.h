// SPDX-License-Identifier: Apache-2.0
// HealthMetrics: what /metrics/slis shows: how often each health check was asked, and what it said. Under the names of
// Kubernetes' own components. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tutti::observe {

class HealthMetrics {
 public:
  HealthMetrics();
  ~HealthMetrics();

  // `type`: "livez"; `check`: "ping".
  void Count(std::string_view type, std::string_view check, bool well);
  // Prometheus' text.
  std::string Text() const;

 private:
  struct Registry;
  const std::unique_ptr<Registry> registry_;
};

}  // namespace tutti::observe
