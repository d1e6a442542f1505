// SPDX-License-Identifier: Apache-2.0
// What dialects call things, for sentences of ours.
#pragma once

#include <string>
#include <string_view>

#include "observe/naming.h"

namespace tutti::dialects {

using observe::Join;
using observe::Named;
using observe::OneLine;

// A level of topology for people: a label's key, or what the dialect has that made the label.
std::string NamedLevel(std::string_view key);
// "no node has the label rack": why no domain of the level holds any pod.
std::string NobodyIn(std::string_view key);

}  // namespace tutti::dialects
