// SPDX-License-Identifier: Apache-2.0
// Reads a volcano-scheduler.conf: the share rule of its queues, whether gangs may take room from each other, and
// settings without effect here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace YAML {
class Node;
}

namespace tutti::app {

struct VolcanoPlugin {
  std::string name;
  std::map<std::string, bool> switches;          // enableReclaimable and the like, if the file sets them
  std::map<std::string, std::string> arguments;  // as text
};

enum class ShareRule {
  kNone,        // queues are only capped by their capability
  kProportion,  // by weight
  kCapacity,    // by the `deserved` of each queue
};

struct VolcanoConf {
  std::vector<std::string> actions;               // in their order
  std::vector<std::vector<VolcanoPlugin>> tiers;  // in their order

  ShareRule rule = ShareRule::kNone;
  bool hierarchy = false;      // for capacity: parents count
  int64_t ancestor_level = 0;  // for capacity: so many levels of ancestors are compared
  bool reclaims = false;       // queues may take back from each other
  bool preempts = false;       // gangs of a higher priority may take from others of their queue

  std::vector<std::string> notes;  // "FILE:LINE: KEY: …": settings without effect, and why
};

// Reads `text`; `file` is its name in messages. Error: kInvalid, with all complaints, each with its line and key.
base::Result<VolcanoConf> ReadVolcanoConf(const std::string& text, const std::string& file);
// The same from a document that was parsed.
base::Result<VolcanoConf> ReadVolcanoConf(const YAML::Node& document, const std::string& file);

}  // namespace tutti::app
