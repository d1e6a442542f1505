// SPDX-License-Identifier: Apache-2.0
// The profiles that serve schedulerNames, made of what the configuration says.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "core/scheduler.h"

namespace tutti::app {

// With no profile in `config`: kube-scheduler's default plugins under each of `default_names`. A profile that says
// nothing about plugins is this one too, and has WholeNodes besides unless it is default-scheduler's or the
// configuration says no. What the registry warns of is added to `config.notes`. Error: kInvalid, naming file, line and
// profile.
base::Result<std::vector<framework::Profile>> MakeProfiles(Config& config,
                                                           const std::vector<std::string>& default_names);

// A profile that says nothing but its name.
plugins::ProfileConfig Silent(const std::string& scheduler_name);

// Whether a profile that is configured like this has WholeNodes.
bool KeepsNodesWhole(const Config& config, const plugins::ProfileConfig& profile);

// The core's options, profiles included.
base::Result<core::Options> MakeOptions(Config& config, const std::vector<std::string>& default_names);

}  // namespace tutti::app
