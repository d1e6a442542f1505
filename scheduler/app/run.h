// SPDX-License-Identifier: Apache-2.0
// `tutti run`: the scheduler on a cluster.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "server/server.h"

namespace tutti::app {

// kube-scheduler's flags. A flag that is set overrides the configuration files.
struct RunFlags {
  std::vector<std::string> config_files;
  std::string kubeconfig, context, master;
  std::optional<bool> leader_elect;
  std::optional<std::string> lease_duration, renew_deadline, retry_period;  // as Go writes durations
  std::optional<std::string> resource_lock, resource_name, resource_namespace;
  bool secure_serving = true;  // false: --secure-port=0
  server::ServerOptions server;
  int grpc_port = 0;  // 0: none
  bool kueue_webhook = false;  // answer the API server's AdmissionReviews of jobs that are to wait in Kueue's queues
  // Kubeconfigs of the API servers that decide who may read the pages; empty: the API server of the cluster.
  std::string authentication_kubeconfig, authorization_kubeconfig;
  std::string client_ca_file;  // empty: looked up in the cluster
  bool authentication_skip_lookup = false, authentication_tolerate_lookup_failure = true;
  std::optional<std::string> authenticated_ttl, allowed_ttl, denied_ttl;  // as Go writes durations
  std::string tls_min_version;                                            // "VersionTLS12"; empty: the default
  std::vector<std::string> tls_cipher_suites;                             // Go's names; none: the default
  std::string logging_format = "json";                                    // or "text"
  std::string verbosity = "0";
  std::vector<std::string> feature_gates;       // "NAME=true"
  std::map<std::string, std::string> upstream;  // the given flags among UpstreamFlags(), by name
  std::string write_config_to;                  // write the configuration to this file and end
  std::map<std::string, std::string> values;    // of all flags, for /flagz
};

// Returns the configuration that is in effect with `flags`. Error: kInvalid, naming the file or flag.
base::Result<Config> EffectiveConfig(const RunFlags& flags);

// Returns `flags.server` with the durations and TLS flags applied. Adds settings without effect to `notes`. Error:
// kInvalid, naming the flag.
base::Result<server::ServerOptions> EffectiveServing(const RunFlags& flags, std::vector<std::string>* notes);

// Sets how the log is written. Error: kInvalid, naming the flag.
base::Status ApplyLogging(const RunFlags& flags);

// Renders both documents with their defaults, for /configz. `--config` reads each of them.
std::string ConfigJson(const Config& config);
// Renders the same as one file, for --write-config-to.
std::string ConfigYaml(const Config& config);

// Runs until SIGTERM or SIGINT (returns 0), or until the start fails (returns 1). A lost lease ends the process with 1.
// REQUIRES: BlockStopSignals().
int Run(const RunFlags& flags);

}  // namespace tutti::app
