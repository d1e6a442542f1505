// SPDX-License-Identifier: Apache-2.0
// Flags of kube-scheduler that `tutti run` takes and that change nothing here, so that a command line that was written
// for kube-scheduler is taken as it stands. What has no effect is said once, in the log.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tutti::app {

struct UpstreamFlag {
  enum class Type { kBool, kInteger, kNumber, kDuration, kText };
  std::string_view name;  // without the dashes
  Type type = Type::kText;
  std::string_view quiet;  // the value that is so in any case: no note is written
  std::string_view why;    // it has no effect
};

std::span<const UpstreamFlag> UpstreamFlags();

// What is to be said of the flags that were given, by name. Error: kInvalid, a value that is not of the flag's type.
base::Result<std::vector<std::string>> NotesOnFlags(const std::map<std::string, std::string>& given);

// What is to be said of --feature-gates, each "NAME=BOOL" or "COMPONENT:NAME=BOOL". Error: kInvalid, as kube-scheduler
// refuses it: no value, or one that is not a bool.
base::Result<std::vector<std::string>> NotesOnFeatureGates(const std::vector<std::string>& gates);

// As Go's strconv.ParseBool: 1, t, true, 0, f, false, and their capitals.
base::Result<bool> ParseGoBool(std::string_view text);

}  // namespace tutti::app
