// SPDX-License-Identifier: Apache-2.0
// Reads a volcano-scheduler.conf: by which rule its queues share, whether pods are evicted for gangs, and which
// settings have no effect here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/options.h"

namespace YAML {
class Node;
}

namespace tutti::app {

inline constexpr int64_t kMostAncestorLevels = 100;  // of QueueRule::ancestor_levels, as files may set it

struct VolcanoConf {
  core::QueueRule rule;
  bool preempts = false;           // an action has gangs of a higher priority evict others of their queue
  std::vector<std::string> notes;  // "FILE:LINE: KEY: …": settings without effect, and why
};

// Reads `document`; `file` is its name in messages. Error: kInvalid, with all complaints, each with its line and key.
base::Result<VolcanoConf> ReadVolcanoConf(const YAML::Node& document, const std::string& file);

}  // namespace tutti::app
