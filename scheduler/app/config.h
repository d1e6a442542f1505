// SPDX-License-Identifier: Apache-2.0
// Config: the configuration of `tutti run`. It is read from four kinds of document, in one file or in several:
//
//   kubescheduler.config.k8s.io/v1, KubeSchedulerConfiguration   kube-scheduler's own file, unchanged
//   volcano-scheduler.conf, which has actions and tiers          Volcano's own file, unchanged: how queues share
//   config.kueue.x-k8s.io/v1beta1 or v1beta2, Configuration      Kueue's own file, unchanged: what it says of quota
//   tutti.dev/v1alpha1, TuttiConfiguration                       settings that only Tutti has
//
// A field of the others that Tutti does not need is accepted, and `notes` names it. An unknown field is an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/options.h"
#include "dialects/dialect.h"
#include "kube/extender_client.h"
#include "plugins/registry.h"

namespace tutti::app {

// The defaults are kube-scheduler's, except for the names.
struct LeaderElectionConfig {
  bool leader_elect = true;
  base::Millis lease_duration_ms = 15'000;
  base::Millis renew_deadline_ms = 10'000;
  base::Millis retry_period_ms = 2'000;
  std::string resource_lock = "leases";
  std::string resource_name = "tutti";
  std::string resource_namespace;  // empty: our pod's namespace, or "tutti-system" outside a cluster
  std::string where;               // "FILE:LINE: leaderElection"; empty: no file sets it
};

// Checks that the three times can work together, if there is an election. Error: kInvalid, with the remedy.
base::Status CheckElection(const LeaderElectionConfig& config);

struct ClientConnectionConfig {
  std::string kubeconfig;  // empty: in-cluster, or by kubectl's rules
};

// One entry of profiles[] as written, without defaults.
struct ProfileSettings {
  plugins::ProfileConfig config;
  std::string where;                              // "FILE:LINE: profiles[0]", for messages
  std::map<std::string, std::string> args_where;  // the same for pluginConfig[].args, by plugin
};

struct Config {
  // KubeSchedulerConfiguration
  LeaderElectionConfig leader_election;
  ClientConnectionConfig client_connection;
  std::vector<ProfileSettings> profiles;  // empty: DefaultSchedulerNames()
  int64_t pod_initial_backoff_s = 1;
  int64_t pod_max_backoff_s = 10;
  std::vector<kube::ExtenderSpec> extenders;
  std::vector<std::string> ignored_resources;  // managed by extenders; NodeResourcesFit ignores them

  // TuttiConfiguration
  std::string policy = "repair";  // or "keep"
  int64_t repair_timeout_s = 60;
  int64_t bind_timeout_s = 10;
  std::string quota_reason = "Unschedulable";     // or "QuotaExceeded"
  std::string gang_preemption = "LowerPriority";  // or "Never" or "WithinQueue", as a volcano-scheduler.conf has it
  bool gang_preemption_is_set = false;            // by a TuttiConfiguration, whatever a volcano-scheduler.conf says
  core::QueueRule queue_rule;                     // or by a volcano-scheduler.conf
  std::string queue_rule_where;                   // "FILE:LINE: queues", for messages; empty: no file sets it
  // Of nodes that an autoscaler adds.
  std::vector<std::string> autoscaled_labels = core::Options().autoscaled_labels;
  core::QuotaRule quota_rule;  // `kueue`: by which rule its queues share
  // What dialects are told: `fit`, and of `kueue` waitForPodsReady and `words`. The names of schedulers are those of
  // the profiles.
  dialects::DialectSettings dialects;
  int64_t max_in_flight = 80;  // writes to the API server that are open at one time
  int64_t ranking_memory_mib = 256;
  // Whether pods with GPUs or other extended resources avoid nodes that are wholly free (plugins::WholeNodes). It holds
  // for profiles that neither name nor configure plugins, and never for the profile default-scheduler.
  bool keep_nodes_whole = true;

  std::vector<std::string> kinds_read;
  std::vector<std::string> notes;  // for the log: settings without effect here
};

// Reads the files in order. The same kind twice is an error. Without a file it returns the defaults. Error: kInvalid,
// with all complaints, one on a line.
base::Result<Config> LoadConfig(const std::vector<std::string>& files);
// Does the same and checks the election too, for callers without flags that override the files.
base::Result<Config> LoadWholeConfig(const std::vector<std::string>& files);
// Reads one file's text and adds its settings to `*config`; `file` is its name in messages.
base::Status ReadConfig(const std::string& text, const std::string& file, Config* config);

// Returns the schedulerNames that are served if the configuration has no profile: Tutti's own, and those that KubeRay
// writes.
std::vector<std::string> DefaultSchedulerNames();
// Returns the schedulerNames that offline verbs serve: the same, and default-scheduler.
std::vector<std::string> OfflineSchedulerNames();

}  // namespace tutti::app
