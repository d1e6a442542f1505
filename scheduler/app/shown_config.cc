// SPDX-License-Identifier: Apache-2.0
// The configuration in effect as people read it: /configz and --write-config-to.
#include <fmt/format.h>

#include <algorithm>

#include "app/output.h"
#include "app/profiles.h"
#include "app/run.h"
#include "base/base64.h"
#include "base/json.h"
#include "dialects/declaration.h"

namespace tutti::app {
namespace {

using Json = nlohmann::ordered_json;
using PluginList = std::vector<plugins::ProfileConfig::Plugin>;

// Writes a duration in seconds, which Go can read.
std::string Duration(base::Millis ms) { return fmt::format("{}s", static_cast<double>(ms) / 1000); }

Json CpuAndMemory() { return {{{"name", "cpu"}, {"weight", 1}}, {{"name", "memory"}, {"weight", 1}}}; }

// Returns kube-scheduler's default args of a plugin; null if it takes none.
Json DefaultArgs(std::string_view plugin) {
  if (plugin == "InterPodAffinity")
    return {{"hardPodAffinityWeight", 1}, {"ignorePreferredTermsOfExistingPods", false}};
  if (plugin == "NodeAffinity") return Json::object();
  if (plugin == "NodeResourcesBalancedAllocation") return {{"resources", CpuAndMemory()}};
  if (plugin == "NodeResourcesFit")
    return {{"scoringStrategy", {{"resources", CpuAndMemory()}, {"type", "LeastAllocated"}}}};
  if (plugin == "PodTopologySpread") return {{"defaultingType", "System"}};
  if (plugin == "VolumeBinding") return {{"bindTimeoutSeconds", 600}};
  return nullptr;
}

Json Args(const std::string& plugin, const base::Json* given) {
  Json args = {{"apiVersion", "kubescheduler.config.k8s.io/v1"}, {"kind", plugin + "Args"}};
  if (const Json defaults = DefaultArgs(plugin); defaults.is_object()) args.update(defaults);
  if (given && given->is_object()) args.merge_patch(Json(*given));
  return args;
}

Json Names(const PluginList& list) {
  Json names = Json::array();
  for (const plugins::ProfileConfig::Plugin& plugin : list) {
    Json one = {{"name", plugin.name}};
    if (plugin.weight != 0) one["weight"] = plugin.weight;
    names.push_back(std::move(one));
  }
  return names;
}

// Renders one extension point as in the file.
Json Point(const plugins::ProfileConfig::PluginSet& set) {
  Json point = Json::object();
  if (!set.enabled.empty()) point["enabled"] = Names(set.enabled);
  for (const std::string& name : set.disabled) point["disabled"].push_back({{"name", name}});
  return point;
}

// Renders a profile as its file has it.
Json Written(const plugins::ProfileConfig& config) {
  Json profile = {{"schedulerName", config.scheduler_name}};
  for (const auto& [name, set] : config.plugins)
    if (Json point = Point(set); !point.empty()) profile["plugins"][name] = std::move(point);
  for (const auto& [plugin, args] : config.plugin_config)
    profile["pluginConfig"].push_back({{"name", plugin}, {"args", args ? Json(*args) : Json::object()}});
  return profile;
}

// Renders a profile with all enabled plugins and their args.
Json Defaulted(const plugins::ProfileConfig& config, bool keeps_nodes_whole) {
  Json profile = Written(config);
  PluginList active = plugins::ActivePlugins(config);
  Json multi_point = profile["plugins"].contains("multiPoint") ? profile["plugins"]["multiPoint"] : Json::object();
  if (keeps_nodes_whole) active.push_back({"WholeNodes"});
  multi_point["enabled"] = Names(active);
  profile["plugins"]["multiPoint"] = std::move(multi_point);
  Json all = Json::array();
  for (const plugins::ProfileConfig::Plugin& plugin : active) {
    const auto given = std::ranges::find(config.plugin_config, plugin.name, [](const auto& one) { return one.first; });
    const bool said = given != config.plugin_config.end() && given->second;
    if (said || DefaultArgs(plugin.name).is_object())
      all.push_back({{"name", plugin.name}, {"args", Args(plugin.name, said ? given->second.get() : nullptr)}});
  }
  profile["pluginConfig"] = std::move(all);
  return profile;
}

Json Profiles(const Config& config, bool defaulted) {
  std::vector<plugins::ProfileConfig> given;
  for (const ProfileSettings& settings : config.profiles) given.push_back(settings.config);
  if (given.empty())
    for (const std::string& name : DefaultSchedulerNames()) given.push_back(Silent(name));
  Json profiles = Json::array();
  for (const plugins::ProfileConfig& one : given)
    profiles.push_back(defaulted ? Defaulted(one, KeepsNodesWhole(config, one)) : Written(one));
  return profiles;
}

// Renders an extender as its file has it; its key only with `secrets`.
Json Written(const kube::ExtenderSpec& extender, const std::vector<std::string>& ignored_resources, bool secrets) {
  Json shown = {{"urlPrefix", extender.url_prefix},
                {"weight", extender.weight},
                {"httpTimeout", Duration(extender.http_timeout_ms)},
                {"enableHTTPS", extender.https},
                {"nodeCacheCapable", extender.node_cache_capable},
                {"ignorable", extender.ignorable}};
  for (const auto& [name, verb] :
       {std::pair("filterVerb", extender.filter_verb), std::pair("prioritizeVerb", extender.prioritize_verb),
        std::pair("bindVerb", extender.bind_verb), std::pair("preemptVerb", extender.preempt_verb)})
    if (!verb.empty()) shown[name] = verb;
  for (const std::string& name : extender.managed_resources)
    shown["managedResources"].push_back(
        {{"name", name}, {"ignoredByScheduler", std::ranges::count(ignored_resources, name) > 0}});
  Json& tls = shown["tlsConfig"] = {{"insecure", extender.insecure}};
  if (!extender.server_name.empty()) tls["serverName"] = extender.server_name;
  for (const auto& [name, pem] : {std::pair("caData", extender.ca_pem), std::pair("certData", extender.cert_pem),
                                  std::pair("keyData", secrets ? extender.key_pem : "")})
    if (!pem.empty()) tls[name] = base::EncodeBase64(pem);
  return shown;
}

// `written`: as a file that can be read again, which has secrets; else as it is in effect, with defaults.
Json Upstream(const Config& config, bool written) {
  const LeaderElectionConfig& election = config.leader_election;
  Json shown = {{"apiVersion", "kubescheduler.config.k8s.io/v1"},
                {"kind", "KubeSchedulerConfiguration"},
                {"clientConnection", {{"kubeconfig", config.client_connection.kubeconfig}}},
                {"leaderElection",
                 {{"leaderElect", election.leader_elect},
                  {"leaseDuration", Duration(election.lease_duration_ms)},
                  {"renewDeadline", Duration(election.renew_deadline_ms)},
                  {"retryPeriod", Duration(election.retry_period_ms)},
                  {"resourceLock", election.resource_lock},
                  {"resourceName", election.resource_name},
                  {"resourceNamespace", election.resource_namespace}}},
                {"podInitialBackoffSeconds", config.pod_initial_backoff_s},
                {"podMaxBackoffSeconds", config.pod_max_backoff_s},
                {"profiles", Profiles(config, !written)}};
  for (const kube::ExtenderSpec& extender : config.extenders)
    shown["extenders"].push_back(Written(extender, config.ignored_resources, written));
  return shown;
}

Json Queues(const core::QueueRule& rule) {
  using Kind = core::QueueRule::Kind;
  Json shown = {{"rule", "capability"}, {"reclaim", rule.reclaim}};
  if (rule.kind == Kind::kProportion) shown["rule"] = "proportion";
  if (rule.kind == Kind::kCapacity) {
    shown["rule"] = "capacity";
    shown["ancestorReclaimLevel"] = rule.ancestor_levels;
  }
  return shown;
}

Json FairSharing(const core::QuotaRule& rule) {
  using Strategy = queue::FairStrategy;
  Json names = Json::array();
  for (const Strategy one : rule.strategies)
    names.push_back(one == Strategy::kLessThanInitialShare ? "LessThanInitialShare" : "LessThanOrEqualToFinalShare");
  return {{"enable", rule.fair_sharing}, {"preemptionStrategies", std::move(names)}};
}

Json PodsReady(const dialects::PodsReadyRule& rule) {
  Json requeuing = {{"timestamp", rule.keeps_place ? "Creation" : "Eviction"},
                    {"backoffBaseSeconds", rule.first_pause_ms / 1000},
                    {"backoffMaxSeconds", rule.longest_pause_ms / 1000}};
  if (rule.requeue_limit) requeuing["backoffLimitCount"] = *rule.requeue_limit;
  Json shown = {
      {"enable", rule.enabled}, {"timeout", Duration(rule.timeout_ms)}, {"requeuingStrategy", std::move(requeuing)}};
  if (rule.recovery_timeout_ms) shown["recoveryTimeout"] = Duration(*rule.recovery_timeout_ms);
  return shown;
}

Json Ours(const Config& config) {
  return {
      {"apiVersion", "tutti.dev/v1alpha1"},
      {"kind", "TuttiConfiguration"},
      {"policy", config.policy},
      {"repairTimeoutSeconds", config.repair_timeout_s},
      {"bindTimeoutSeconds", config.bind_timeout_s},
      {"quotaReason", config.quota_reason},
      {"gangPreemption", config.gang_preemption},
      {"fit", dialects::NameOf(config.dialects.fit)},
      {"autoscaledLabels", config.autoscaled_labels},
      {"queues", Queues(config.queue_rule)},
      {"kueue",
       {{"fairSharing", FairSharing(config.quota_rule)},
        {"waitForPodsReady", PodsReady(config.dialects.pods_ready)},
        {"words", config.dialects.kueue_0_8 ? "0.8" : "0.17"}}},
      {"minRuntimeSeconds", config.queue_rule.min_runtime_ms / 1000},
      {"maxInFlight", config.max_in_flight},
      {"rankingMemoryMiB", config.ranking_memory_mib},
      {"keepNodesWhole", config.keep_nodes_whole}};
}

}  // namespace

std::string ConfigJson(const Config& config) {
  return ToJsonText({{"componentconfig", Upstream(config, false)}, {"tutti.dev", Ours(config)}});
}

// Renders profiles as they were written, because keepNodesWhole acts only on a profile that neither names nor
// configures plugins.
std::string ConfigYaml(const Config& config) {
  return ToYamlText(Upstream(config, true)) + "---\n" + ToYamlText(Ours(config));
}

}  // namespace tutti::app
