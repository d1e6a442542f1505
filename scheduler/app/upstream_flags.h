// SPDX-License-Identifier: Apache-2.0
// Flags of kube-scheduler that `tutti run` accepts though they change nothing here. A command line for kube-scheduler
// works unchanged. The log says once which flags have no effect.
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
  std::string_view quiet;  // the value that Tutti has in any case: with it no note is written
  std::string_view why;    // why it has no effect
};

std::span<const UpstreamFlag> UpstreamFlags();

// Returns the notes about the given flags, by name. Error: kInvalid, a value that is not of the flag's type.
base::Result<std::vector<std::string>> NotesOnFlags(const std::map<std::string, std::string>& given);

// Returns the notes about --feature-gates, each "NAME=BOOL" or "COMPONENT:NAME=BOOL". Error: kInvalid, for no value or
// one that is not a bool, as in kube-scheduler.
base::Result<std::vector<std::string>> NotesOnFeatureGates(const std::vector<std::string>& gates);

// Reads a bool as Go's strconv.ParseBool does: 1, t, true, 0, f, false, and their capitals.
base::Result<bool> ParseGoBool(std::string_view text);

}  // namespace tutti::app
