// SPDX-License-Identifier: Apache-2.0
// The registry: lists all plugins, and makes profiles from a KubeSchedulerConfiguration.
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

// One profile of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), as written.
struct ProfileConfig {
  struct Plugin {
    std::string name;
    int64_t weight = 0;  // 0: not set
  };
  struct PluginSet {
    std::vector<Plugin> enabled;
    std::vector<std::string> disabled;  // "*": all
  };

  std::string scheduler_name;
  std::map<std::string, PluginSet> plugins;  // by extension point, as the file spells it: "multiPoint", "filter", ...
  std::vector<std::pair<std::string, std::shared_ptr<const base::Json>>> plugin_config;  // name, args
};

// Merges `config` into the default plugins as kube-scheduler does, and makes them. Error: kInvalid, naming the profile
// and the plugin, which is unknown, named twice, or has invalid arguments. `warnings` may be null. It gets a line for
// each named plugin that does nothing here yet, or that cannot be changed.
base::Result<framework::Profile> MakeProfile(const ProfileConfig& config, std::vector<std::string>* warnings = nullptr);

// Returns the plugins of `config`'s multiPoint merged with the defaults, in order, with the weights of scores; without
// plugins that do nothing here. REQUIRES: MakeProfile accepted `config`.
std::vector<ProfileConfig::Plugin> ActivePlugins(const ProfileConfig& config);

// Makes a profile with kube-scheduler's default plugins and weights.
framework::Profile DefaultProfile(const std::string& scheduler_name);

// Makes the same profile with the score WholeNodes, which outweighs the others.
framework::Profile PackingProfile(const std::string& scheduler_name);
// Adds that score to a profile.
void AddPacking(framework::Profile* profile);

// Returns the names of all plugins that a config may name, in the order of kube-scheduler's default list.
std::vector<std::string> KnownPlugins();

}  // namespace tutti::plugins
