// SPDX-License-Identifier: Apache-2.0
#include "observe/health_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace tutti::observe {

struct HealthMetrics::Registry {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Gauge>& last = prometheus::BuildGauge()
                                                    .Name("kubernetes_healthcheck")
                                                    .Help("What a health check said last: 1 if it was well.")
                                                    .Register(registry);
  prometheus::Family<prometheus::Counter>& asked = prometheus::BuildCounter()
                                                       .Name("kubernetes_healthchecks_total")
                                                       .Help("Number of health checks, by what they said.")
                                                       .Register(registry);
};

HealthMetrics::HealthMetrics() : registry_(std::make_unique<Registry>()) {}
HealthMetrics::~HealthMetrics() = default;

// Counts one health check. The metric families have one series for each set of labels, and lock a mutex.
void HealthMetrics::Count(std::string_view type, std::string_view check, bool well) {
  const std::string name(check), path(type);
  registry_->last.Add({{"name", name}, {"type", path}}).Set(well ? 1 : 0);
  registry_->asked.Add({{"name", name}, {"status", well ? "success" : "error"}, {"type", path}}).Increment();
}

std::string HealthMetrics::Text() const {
  return prometheus::TextSerializer().Serialize(registry_->registry.Collect());
}

}  // namespace tutti::observe
