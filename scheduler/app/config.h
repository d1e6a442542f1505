// SPDX-License-Identifier: Apache-2.0
// Config: what `tutti run` is told by files. Two kinds of document are read, in one file or in several:
//
//   kubescheduler.config.k8s.io/v1, KubeSchedulerConfiguration   kube-scheduler's, as it stands
//   tutti.dev/v1alpha1, TuttiConfiguration                       what is ours
//
// What kube-scheduler has and Tutti does not need is accepted and said in `notes`; what neither knows is an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/extender_client.h"
#include "plugins/registry.h"

namespace tutti::app {

// Defaults are kube-scheduler's, but for the names.
struct LeaderElectionConfig {
  bool leader_elect = true;
  base::Millis lease_duration_ms = 15'000;
  base::Millis renew_deadline_ms = 10'000;
  base::Millis retry_period_ms = 2'000;
  std::string resource_lock = "leases";
  std::string resource_name = "tutti";
  std::string resource_namespace;  // empty: that of our pod, or "tutti-system" outside a cluster
  std::string where;               // "FILE:LINE: leaderElection"; empty: no file has it
};

// Whether its three times can work together, if there is an election. Error: kInvalid, how to mend it.
base::Status CheckElection(const LeaderElectionConfig& config);

struct ClientConnectionConfig {
  std::string kubeconfig;  // empty: in-cluster, or kubectl's own rules
};

// One of profiles[] as written; nothing is expanded.
struct ProfileSettings {
  plugins::ProfileConfig config;
  std::string where;                              // "FILE:LINE: profiles[0]", for messages
  std::map<std::string, std::string> args_where;  // likewise of pluginConfig[].args, by plugin
};

struct Config {
  // KubeSchedulerConfiguration
  LeaderElectionConfig leader_election;
  ClientConnectionConfig client_connection;
  std::vector<ProfileSettings> profiles;  // empty: DefaultSchedulerNames()
  int64_t pod_initial_backoff_s = 1;
  int64_t pod_max_backoff_s = 10;
  std::vector<kube::ExtenderSpec> extenders;
  std::vector<std::string> ignored_resources;  // extenders manage them, and NodeResourcesFit is not to look at them

  // TuttiConfiguration
  std::string policy = "repair";  // or "keep"
  int64_t repair_timeout_s = 60;
  int64_t bind_timeout_s = 10;
  std::string quota_reason = "Unschedulable";  // or "QuotaExceeded"
  int64_t max_in_flight = 80;                  // writes on their way to the API server at one time
  int64_t ranking_memory_mib = 256;
  // Whether pods that ask for GPUs or other extended resources leave whole free nodes whole (plugins::WholeNodes),
  // under schedulerNames whose profile says nothing about plugins; default-scheduler's always is kube-scheduler's.
  bool keep_nodes_whole = true;

  std::vector<std::string> kinds_read;
  std::vector<std::string> notes;  // for the log: what was read and has no effect here
};

// Reads the files in order; the same kind twice is an error. No file: the defaults.
// Error: kInvalid, all complaints, one a line.
base::Result<Config> LoadConfig(const std::vector<std::string>& files);
// The same, for callers without flags that override the files: the election is checked too.
base::Result<Config> LoadWholeConfig(const std::vector<std::string>& files);
// The same from text; `file` is for the messages. `*config` is added to.
base::Status ReadConfig(const std::string& text, const std::string& file, Config* config);

// The schedulerNames served with no profile in the configuration: ours, and those that KubeRay writes.
std::vector<std::string> DefaultSchedulerNames();
// What offline verbs serve: those, and default-scheduler.
std::vector<std::string> OfflineSchedulerNames();

}  // namespace tutti::app
