// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "app/run.h"
#include "app/upstream_flags.h"
#include "base/duration.h"
#include "base/log.h"

namespace tutti::app {
namespace {

base::Status Override(const char* flag, const std::optional<std::string>& text, base::Millis* out) {
  if (!text) return {};
  const auto parsed = base::ParseDuration(*text);
  if (!parsed) return base::Invalid(fmt::format("{}: {}", flag, parsed.error().message));
  *out = *parsed;
  return {};
}

void Override(const std::optional<std::string>& text, std::string* out) {
  if (text) *out = *text;
}

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
  if (const base::Status times = CheckElection(election); !times) return tl::make_unexpected(times.error());
  for (const auto& notes : {NotesOnFlags(flags.upstream), NotesOnFeatureGates(flags.feature_gates)}) {
    if (!notes) return tl::make_unexpected(notes.error());
    config->notes.insert(config->notes.end(), notes->begin(), notes->end());
  }
  if (!flags.kubeconfig.empty()) config->client_connection.kubeconfig = flags.kubeconfig;
  return config;
}

base::Status ApplyLogging(const RunFlags& flags) {
  if (flags.logging_format != "json" && flags.logging_format != "text")
    return base::Invalid(
        fmt::format("--logging-format: \"{}\" is not known; write json or text", flags.logging_format));
  int verbosity = 0;
  const char *begin = flags.verbosity.data(), *end = begin + flags.verbosity.size();
  if (const auto read = std::from_chars(begin, end, verbosity); read.ec != std::errc() || read.ptr != end)
    return base::Invalid(fmt::format("-v: \"{}\": write a whole number", flags.verbosity));
  base::SetLogFormat(flags.logging_format == "text" ? base::LogFormat::kText : base::LogFormat::kJson);
  base::SetVerbosity(verbosity);
  return {};
}

base::Result<server::ServerOptions> EffectiveServing(const RunFlags& flags, std::vector<std::string>* notes) {
  server::ServerOptions serving = flags.server;
  auto tls = server::ReadTlsChoice(flags.tls_min_version, flags.tls_cipher_suites, notes);
  if (!tls) return tl::make_unexpected(tls.error());
  serving.tls = *std::move(tls);
  server::AccessTimes& times = serving.access_times;
  for (const base::Status& read :
       {Override("--authentication-token-webhook-cache-ttl", flags.authenticated_ttl, &times.authenticated_ms),
        Override("--authorization-webhook-cache-authorized-ttl", flags.allowed_ttl, &times.allowed_ms),
        Override("--authorization-webhook-cache-unauthorized-ttl", flags.denied_ttl, &times.denied_ms)}) {
    if (!read) return tl::make_unexpected(read.error());
  }
  return serving;
}

}  // namespace tutti::app
