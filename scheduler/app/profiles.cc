// SPDX-License-Identifier: Apache-2.0
#include "app/profiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/yaml_fields.h"
#include "base/check.h"
#include "base/json.h"

namespace tutti::app {
namespace {

// Whether the profile neither names nor configures a plugin.
bool SaysNothing(const plugins::ProfileConfig& config) {
  return config.plugin_config.empty() && std::ranges::all_of(config.plugins, [](const auto& point) {
           return point.second.enabled.empty() && point.second.disabled.empty();
         });
}

// Returns the place in the file that a complaint of the registry is about: a plugin's args if it names one, else the
// profile.
const std::string& WhereOf(const ProfileSettings& settings, const std::string& complaint) {
  for (const auto& [plugin, where] : settings.args_where)
    if (complaint.find(fmt::format("pluginConfig: {}: ", plugin)) != std::string::npos) return where;
  return settings.where;
}

// Returns `config` with `resources` among those that NodeResourcesFit ignores.
plugins::ProfileConfig WithIgnored(plugins::ProfileConfig config, const std::vector<std::string>& resources) {
  constexpr std::string_view kFit = "NodeResourcesFit";
  if (resources.empty()) return config;
  auto& given = config.plugin_config;
  auto at = std::ranges::find(given, kFit, [](const auto& one) { return std::string_view(one.first); });
  if (at == given.end()) at = given.insert(given.end(), {std::string(kFit), nullptr});
  base::Json args = at->second ? *at->second : base::Json::object();
  for (const std::string& resource : resources) args["ignoredResources"].push_back(resource);
  at->second = std::make_shared<const base::Json>(std::move(args));
  return config;
}

}  // namespace

plugins::ProfileConfig Silent(const std::string& scheduler_name) {
  plugins::ProfileConfig profile;
  profile.scheduler_name = scheduler_name;
  return profile;
}

bool KeepsNodesWhole(const Config& config, const plugins::ProfileConfig& profile) {
  return config.keep_nodes_whole && profile.scheduler_name != "default-scheduler" && SaysNothing(profile);
}

base::Result<std::vector<framework::Profile>> MakeProfiles(Config& config,
                                                           const std::vector<std::string>& default_names) {
  std::vector<framework::Profile> profiles;
  std::string complaints;
  const auto stock = [&](const std::string& name) {
    auto profile = plugins::MakeProfile(WithIgnored(Silent(name), config.ignored_resources));
    TUTTI_CHECK(profile, "the default profile can be made");
    if (KeepsNodesWhole(config, Silent(name))) plugins::AddPacking(&*profile);
    return *std::move(profile);
  };
  for (const ProfileSettings& settings : config.profiles) {
    if (SaysNothing(settings.config)) {
      profiles.push_back(stock(settings.config.scheduler_name));
      continue;
    }
    auto profile = plugins::MakeProfile(WithIgnored(settings.config, config.ignored_resources), &config.notes);
    if (profile) {
      profiles.push_back(*std::move(profile));
    } else {
      const std::string complaint = InOneLine(profile.error().message);
      complaints += fmt::format("{}{}: {}", complaints.empty() ? "" : "\n", WhereOf(settings, complaint), complaint);
    }
  }
  if (!complaints.empty()) return base::Invalid(complaints);
  if (!profiles.empty()) return profiles;
  for (const std::string& name : default_names) profiles.push_back(stock(name));
  return profiles;
}

dialects::DialectSettings SettingsOf(const std::vector<framework::Profile>& profiles,
                                     dialects::DialectSettings settings) {
  constexpr std::string_view kOwn = "tutti";
  settings.scheduler_names.clear();
  for (const framework::Profile& profile : profiles) settings.scheduler_names.push_back(profile.scheduler_name);
  std::ranges::stable_partition(settings.scheduler_names, [&](const std::string& name) { return name == kOwn; });
  if (settings.scheduler_names.empty()) settings.scheduler_names.emplace_back(kOwn);
  return settings;
}

base::Result<core::Options> MakeOptions(Config& config, const std::vector<std::string>& default_names) {
  auto profiles = MakeProfiles(config, default_names);
  if (!profiles) return tl::make_unexpected(profiles.error());
  core::Options options;
  options.profiles = *std::move(profiles);
  options.half_bound = config.policy == "keep" ? core::Options::HalfBound::kKeep : core::Options::HalfBound::kRepair;
  options.repair_timeout_ms = config.repair_timeout_s * 1000;
  using GangPreemption = core::Options::GangPreemption;
  options.gang_preemption = config.gang_preemption == "LowerPriority" ? GangPreemption::kLowerPriority
                            : config.gang_preemption == "WithinQueue" ? GangPreemption::kWithinQueue
                                                                      : GangPreemption::kNever;
  options.bind_timeout_ms = config.bind_timeout_s * 1000;
  options.pod_initial_backoff_ms = config.pod_initial_backoff_s * 1000;
  options.pod_max_backoff_ms = config.pod_max_backoff_s * 1000;
  options.queue_rule = config.queue_rule;
  options.quota_rule = config.quota_rule;
  options.quota_reason = config.quota_reason;
  options.autoscaled_labels = config.autoscaled_labels;
  for (const kube::ExtenderSpec& extender : config.extenders) options.extenders.push_back(extender.ForCore());
  options.ranking_bytes = static_cast<size_t>(config.ranking_memory_mib) << 20;
  return options;
}

}  // namespace tutti::app
