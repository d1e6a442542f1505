// SPDX-License-Identifier: Apache-2.0
// Preemptions: judges the pods that are evicted for others of higher priority, as the commands leave.
//
// (1) some pod of higher priority waits; (2) no victim could have stayed: with it back on the node, those for which the
// node is kept by then, or to which a bind was sent, would not fit. Victims of gangs are judged elsewhere. The second
// is judged by amounts alone: pods here ask for nothing else of a node's pods.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/replica.h"
#include "tests/simulation/truth.h"

namespace tutti::simulation {

class Preemptions {
 public:
  explicit Preemptions(const Truth& truth) : truth_(truth) {}

  // Returns which of these is broken, and how; nullopt: neither. What the replica could not know yet is forgiven.
  std::optional<std::pair<std::string, std::string>> OnSubmit(const Replica& replica,
                                                              const std::vector<cluster::Command>& commands);
  // The pod of this uid was told that it is preempted.
  bool IsVictim(const std::string& uid) const { return victims_.contains(uid); }
  uint64_t judged() const { return judged_; }

 private:
  std::optional<std::string> WhoCouldStay(const std::string& replica, const std::string& node,
                                          const std::vector<const TruePod*>& victims,
                                          const std::vector<const TruePod*>& preemptors) const;

  const Truth& truth_;
  // By uid, the replica that told it last. One that dies after that may leave it undeleted, and the next may not want
  // it.
  std::map<std::string, std::string> victims_;
  std::map<std::string, std::string> sent_;  // where a bind of the pod of this uid was last sent to
  uint64_t judged_ = 0;
};

}  // namespace tutti::simulation
