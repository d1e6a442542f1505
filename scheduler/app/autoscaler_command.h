// SPDX-License-Identifier: Apache-2.0
// `tutti sim autoscaler`: the embedded cluster's autoscaler, for the cluster of a kubeconfig.
#pragma once

#include <string>

#include "sim/nodes/autoscaler.h"

namespace tutti::app {

struct AutoscalerFlags {
  std::string kubeconfig;
  std::string context;
  sim::Autoscaler::Options options;
};

// Returns the shape that a file with one Node describes. Error: kInvalid, kNotFound.
base::Result<sim::NodeShape> LoadNodeShape(const std::string& file);

// Runs until SIGTERM or SIGINT (returns 0); returns 1 if it cannot start. REQUIRES: BlockStopSignals().
int RunAutoscaler(AutoscalerFlags flags);

}  // namespace tutti::app
