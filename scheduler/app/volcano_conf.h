// SPDX-License-Identifier: Apache-2.0
// Reads a volcano-scheduler.conf as it stands: which share rule its queues have, whether gangs may take from each
// other, and what in it has no effect here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace tutti::app {

struct VolcanoPlugin {
  std::string name;
  std::map<std::string, bool> switches;          // enableReclaimable and the like, where the file says them
  std::map<std::string, std::string> arguments;  // as text
};

enum class ShareRule {
  kNone,        // queues are capped by their capability alone
  kProportion,  // by weight
  kCapacity,    // by what each deserves
};

struct VolcanoConf {
  std::vector<std::string> actions;               // in their order
  std::vector<std::vector<VolcanoPlugin>> tiers;  // in their order

  ShareRule rule = ShareRule::kNone;
  bool hierarchy = false;      // of capacity: parents count
  int64_t ancestor_level = 0;  // of capacity: as many queues above two are compared as they are
  bool reclaims = false;       // queues may take back from each other
  bool preempts = false;       // gangs of a higher priority may take from others of their queue

  std::vector<std::string> notes;  // "FILE:LINE: KEY: …": what has no effect, and why
};

// `file` names the text in messages. Error kInvalid: all complaints, each with the line and the key.
base::Result<VolcanoConf> ReadVolcanoConf(const std::string& text, const std::string& file);

}  // namespace tutti::app
