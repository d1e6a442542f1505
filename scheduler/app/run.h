// SPDX-License-Identifier: Apache-2.0
// `tutti run`: the scheduler on a cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "server/server.h"

namespace tutti::app {

// kube-scheduler's flags. What is set goes before what the configuration files say.
struct RunFlags {
  std::vector<std::string> config_files;
  std::string kubeconfig, context, master;
  std::optional<bool> leader_elect;
  std::optional<std::string> lease_duration, renew_deadline, retry_period;  // as Go writes durations
  std::optional<std::string> resource_lock, resource_name, resource_namespace;
  bool secure_serving = true;  // false: --secure-port=0
  server::ServerOptions server;
  // Whom to ask who may read the pages; empty: the API server that is scheduled for.
  std::string authentication_kubeconfig, authorization_kubeconfig;
  std::string client_ca_file;  // empty: looked up in the cluster
  bool authentication_skip_lookup = false, authentication_tolerate_lookup_failure = true;
  std::optional<std::string> authenticated_ttl, allowed_ttl, denied_ttl;  // as Go writes durations
};

// The configuration that is in effect under `flags`. Error: kInvalid, naming the file or flag.
base::Result<Config> EffectiveConfig(const RunFlags& flags);

// `flags.server` with what the durations say. Error: kInvalid, naming the flag.
base::Result<server::ServerOptions> EffectiveServing(const RunFlags& flags);

// For /configz.
std::string ConfigJson(const Config& config);

// Runs until SIGTERM or SIGINT (0), or until the start fails (1); a lost lease ends the process from within (1).
// REQUIRES: BlockStopSignals().
int Run(const RunFlags& flags);

}  // namespace tutti::app
