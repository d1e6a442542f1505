// SPDX-License-Identifier: Apache-2.0
// The registry: which plugins there are, and how a profile is made of them as a KubeSchedulerConfiguration says it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/profile.h"

namespace tutti::plugins {

// One profile of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), as it stands.
struct ProfileConfig {
  struct Plugin {
    std::string name;
    int64_t weight = 0;  // 0: not said
  };
  struct PluginSet {
    std::vector<Plugin> enabled;
    std::vector<std::string> disabled;  // "*": all
  };

  std::string scheduler_name;
  std::map<std::string, PluginSet> plugins;  // by extension point, as the file spells it: "multiPoint", "filter", ...
  std::vector<std::pair<std::string, std::shared_ptr<const base::Json>>> plugin_config;  // name, args
};

// Merges `config` into the default plugins as kube-scheduler does and makes them. Errors (kInvalid) name the profile
// and the plugin: one that is not known, named twice, or given arguments that it does not take. `warnings`, where
// given, gets a line for each plugin that the config names and that does nothing here yet, or that cannot be changed.
base::Result<framework::Profile> MakeProfile(const ProfileConfig& config, std::vector<std::string>* warnings = nullptr);

// The plugins of `config`'s multiPoint once the defaults are merged in, in order, with weights where they score;
// without those that do nothing here. REQUIRES: MakeProfile took `config`.
std::vector<ProfileConfig::Plugin> ActivePlugins(const ProfileConfig& config);

// kube-scheduler's default plugins and weights.
framework::Profile DefaultProfile(const std::string& scheduler_name);

// The same, and above its scores the objective that keeps whole free nodes whole (WholeNodes).
framework::Profile PackingProfile(const std::string& scheduler_name);
// Puts that objective above the scores of a profile.
void AddPacking(framework::Profile* profile);

// The names of all plugins that a config may name, in the order of kube-scheduler's default list.
std::vector<std::string> KnownPlugins();

}  // namespace tutti::plugins
