// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/run.h"
#include "base/json.h"
#include "sim/duration.h"

namespace tutti::app {
namespace {

base::Status Override(const char* flag, const std::optional<std::string>& text, base::Millis* out) {
  if (!text) return {};
  const auto parsed = sim::ParseDuration(*text);
  if (!parsed) return base::Invalid(fmt::format("{}: {}", flag, parsed.error().message));
  *out = *parsed;
  return {};
}

void Override(const std::optional<std::string>& text, std::string* out) {
  if (text) *out = *text;
}

std::string Seconds(base::Millis ms) { return fmt::format("{}s", static_cast<double>(ms) / 1000); }

}  // namespace

base::Result<Config> EffectiveConfig(const RunFlags& flags) {
  auto config = LoadConfig(flags.config_files);
  if (!config) return config;
  LeaderElectionConfig& election = config->leader_election;
  if (flags.leader_elect) election.leader_elect = *flags.leader_elect;
  for (const base::Status& read :
       {Override("--leader-elect-lease-duration", flags.lease_duration, &election.lease_duration_ms),
        Override("--leader-elect-renew-deadline", flags.renew_deadline, &election.renew_deadline_ms),
        Override("--leader-elect-retry-period", flags.retry_period, &election.retry_period_ms)}) {
    if (!read) return tl::make_unexpected(read.error());
  }
  Override(flags.resource_lock, &election.resource_lock);
  Override(flags.resource_name, &election.resource_name);
  Override(flags.resource_namespace, &election.resource_namespace);
  if (election.resource_lock != "leases") {
    return base::Invalid(
        fmt::format("--leader-elect-resource-lock: \"{}\" is not known; write leases", election.resource_lock));
  }
  if (const std::string problem = CheckTimes(election); election.leader_elect && !problem.empty()) {
    return base::Invalid("leader election: " + problem);
  }
  if (!flags.kubeconfig.empty()) config->client_connection.kubeconfig = flags.kubeconfig;
  return config;
}

base::Result<server::ServerOptions> EffectiveServing(const RunFlags& flags) {
  server::ServerOptions serving = flags.server;
  server::AccessTimes& times = serving.access_times;
  for (const base::Status& read :
       {Override("--authentication-token-webhook-cache-ttl", flags.authenticated_ttl, &times.authenticated_ms),
        Override("--authorization-webhook-cache-authorized-ttl", flags.allowed_ttl, &times.allowed_ms),
        Override("--authorization-webhook-cache-unauthorized-ttl", flags.denied_ttl, &times.denied_ms)}) {
    if (!read) return tl::make_unexpected(read.error());
  }
  return serving;
}

std::string ConfigJson(const Config& config) {
  using Json = nlohmann::ordered_json;
  const LeaderElectionConfig& election = config.leader_election;
  Json profiles = Json::array();
  for (const ProfileSettings& profile : config.profiles) {
    profiles.push_back({{"schedulerName", profile.config.scheduler_name}});
  }
  if (profiles.empty()) {
    for (const std::string& name : DefaultSchedulerNames()) profiles.push_back({{"schedulerName", name}});
  }
  const Json json = {{"kubescheduler.config.k8s.io",
                      {{"clientConnection", {{"kubeconfig", config.client_connection.kubeconfig}}},
                       {"leaderElection",
                        {{"leaderElect", election.leader_elect},
                         {"leaseDuration", Seconds(election.lease_duration_ms)},
                         {"renewDeadline", Seconds(election.renew_deadline_ms)},
                         {"retryPeriod", Seconds(election.retry_period_ms)},
                         {"resourceLock", election.resource_lock},
                         {"resourceName", election.resource_name},
                         {"resourceNamespace", election.resource_namespace}}},
                       {"podInitialBackoffSeconds", config.pod_initial_backoff_s},
                       {"podMaxBackoffSeconds", config.pod_max_backoff_s},
                       {"profiles", std::move(profiles)}}},
                     {"tutti.dev",
                      {{"policy", config.policy},
                       {"repairTimeoutSeconds", config.repair_timeout_s},
                       {"bindTimeoutSeconds", config.bind_timeout_s},
                       {"quotaReason", config.quota_reason},
                       {"maxInFlight", config.max_in_flight},
                       {"rankingMemoryMiB", config.ranking_memory_mib},
                       {"keepNodesWhole", config.keep_nodes_whole}}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::app
