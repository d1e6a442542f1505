// SPDX-License-Identifier: Apache-2.0
// Makes the profiles that serve schedulerNames from the configuration.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "core/scheduler.h"
#include "dialects/dialect.h"

namespace tutti::app {

// Makes the profiles of `config`, or one for each of `default_names` if it has none. A profile that does not name
// plugins gets kube-scheduler's defaults. If it does not configure plugins either, it also gets WholeNodes, unless it
// is default-scheduler's or the configuration says no. The registry's warnings are added to `config.notes`. Error:
// kInvalid, naming file, line and profile.
base::Result<std::vector<framework::Profile>> MakeProfiles(Config& config,
                                                           const std::vector<std::string>& default_names);

// Returns a profile with only a name.
plugins::ProfileConfig Silent(const std::string& scheduler_name);

// Tells whether a profile with this configuration has WholeNodes.
bool KeepsNodesWhole(const Config& config, const plugins::ProfileConfig& profile);

// Returns the settings with the names of the profiles, Tutti's own first.
dialects::DialectSettings SettingsOf(const std::vector<framework::Profile>& profiles,
                                     dialects::DialectSettings settings);

// Makes the core's options, with the profiles.
base::Result<core::Options> MakeOptions(Config& config, const std::vector<std::string>& default_names);

}  // namespace tutti::app
