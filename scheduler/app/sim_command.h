// SPDX-License-Identifier: Apache-2.0
// `tutti sim`: serves the embedded cluster on a port, in real time, for kubectl and for schedulers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/kuberay/ray_options.h"
#include "sim/manifests/manifest.h"
#include "sim/nodes/autoscaler.h"

namespace tutti::app {

struct SimFlags {
  std::vector<sim::Manifest> manifests;   // to begin with
  std::vector<std::string> config_files;  // of the scheduler
  std::string listen = "127.0.0.1:8080";  // where kubectl looks without a kubeconfig
  std::string kubeconfig_out;
  int grpc_port = 0;  // where the doors speak gRPC, at the address of `listen`; 0: they do not
  bool with_scheduler = true;
  bool strict_kinds = false;         // an unknown kind in the manifests is an error, not a note
  bool with_upstream_gangs = false;  // scheduling.k8s.io/v1alpha2 is served
  sim::KubeRayOptions kuberay;
  base::Millis pods_stop_ms = 0;                                      // KubeletOptions::stop_ms
  std::optional<sim::Autoscaler::Options> autoscaler = std::nullopt;  // none: ProvisioningRequests get no answer
};

// Runs until SIGTERM or SIGINT (returns 0); returns 1 if it cannot start. REQUIRES: BlockStopSignals().
int Sim(SimFlags flags);

}  // namespace tutti::app
