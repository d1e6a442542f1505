// SPDX-License-Identifier: Apache-2.0
// Stage: the embedded cluster on which one scenario is played, step by step.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/embedded_cluster.h"
#include "base/result.h"
#include "observe/metrics.h"
#include "tests/scenarios/refusals.h"
#include "tests/scenarios/scenario.h"

namespace tutti::scenarios {

class Stage {
 public:
  // Makes a cluster with the scenario's configuration, operator and first objects. Errors: kInvalid.
  static base::Result<std::unique_ptr<Stage>> Set(const Scenario& scenario);

  // Carries one step out, and lets the cluster come to rest. Leaves `expect` to CheckExpectation. Errors: kInvalid.
  base::Status Do(const sim::Json& step);

  const sim::Store& store() const { return cluster_->store(); }
  std::vector<observe::Decision> Decisions() { return cluster_->scheduler()->Decisions(); }
  // Returns the scheduler's page of metrics. Its counters go on through restarts.
  std::string MetricsText() const { return metrics_.Text(); }

  // Returns the objects of a kind and name, sorted by namespace and name. The kind is written as for kubectl, and `*`
  // in the name stands for any text. Error: no such kind.
  base::Result<std::vector<sim::Object>> Find(const std::string& kind, const std::string& name) const;

 private:
  Stage() = default;
  base::Status Load(std::vector<sim::Json> objects);
  base::Status Apply(const sim::Json& manifest);
  base::Status Delete(const sim::Json& step);
  base::Status Patch(const sim::Json& step);
  base::Status Wait(base::Millis ms);
  base::Status Rest();
  base::Result<std::vector<sim::Object>> Named(const std::string& kind_and_name, int64_t first) const;
  base::Result<const sim::ApiResource*> ResourceOf(const std::string& kind) const;

  std::unique_ptr<base::VirtualClock> clock_;
  observe::Metrics metrics_{"scenario", "tutti", "scenario"};
  Refusals refusals_;
  std::unique_ptr<app::EmbeddedCluster> cluster_;
};

}  // namespace tutti::scenarios
