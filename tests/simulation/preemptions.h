// SPDX-License-Identifier: Apache-2.0
// Preemptions: judges the pods that are evicted for others of higher priority, as the commands leave.
//
// (1) A pod that leaves for a gang is recorded before it is told. For pods that leave for a lone pod: (2) Some pod of
// higher priority waits. (3) No victim could have stayed. With it back on the node, there would be no room for the pods
// for which the node is kept by then, or to which a bind was sent. (4) A victim that a PodDisruptionBudget protects
// could not have stayed either if all went that may go and that no budget protects. The last two are judged by amounts
// alone: pods here ask for nothing else of a node's pods. Truth judges which pods leave for a gang, when they are
// recorded.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/replica.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/violation.h"

namespace tutti::simulation {

// The invariants of preemption; some are judged by Checks.
inline constexpr std::string_view kRecordedFirst = "victims are recorded first";
inline constexpr std::string_view kLowerPriority = "victims are of lower priority";
inline constexpr std::string_view kCouldNotStay = "no victim could have stayed";
inline constexpr std::string_view kGuarded = "a budget is broken only where it has to be";
inline constexpr std::string_view kAnnounced = "eviction is announced";
inline constexpr std::string_view kOneSet = "a gang has one set of victims at a time";
inline constexpr std::string_view kNoneUseless = "no eviction is useless";
inline constexpr std::string_view kOfPreemption[] = {kRecordedFirst, kLowerPriority, kCouldNotStay, kGuarded,
                                                     kAnnounced,     kOneSet,        kNoneUseless};

class Preemptions {
 public:
  Preemptions(const Truth& truth, Questions& questions) : truth_(truth), questions_(questions) {}

  // Returns which of these is broken, and how; nullopt: none. What the replica could not know yet is excused.
  std::optional<Violation> OnSubmit(const Replica& replica, const std::vector<cluster::Command>& commands);
  // Tells whether the pod of this uid was told that it is preempted for a lone pod.
  bool IsVictim(const std::string& uid) const { return victims_.contains(uid); }

 private:
  using ByNode = std::map<std::string, std::vector<const TruePod*>>;
  std::optional<Violation> JudgeNode(const Replica& replica, const std::string& node,
                                     const std::vector<const TruePod*>& victims,
                                     const std::vector<const TruePod*>& preemptors) const;
  // What is left on a node beside the pods that it is kept for, and those that a bind to it was sent for.
  struct Room {
    std::set<const TruePod*> need;
    model::ResourceList free;
    void Add(const model::ResourceList& amounts, int64_t sign);
    bool Has(const model::ResourceList& amounts, const model::ResourceList& beside) const;
  };
  Room RoomOn(const std::string& replica, const std::string& node, const std::vector<const TruePod*>& preemptors) const;
  // Tells whether the victim could stay, also beside any pod for which the node may be kept though none says so yet.
  bool CouldStay(const TruePod& victim, const Room& room) const;
  // Returns a victim that could stay, in words; nullopt: there is none.
  std::optional<std::string> FindSpare(const Room& room, const std::string& node,
                                       const std::vector<const TruePod*>& victims) const;
  // Returns a victim that a budget protects and that could stay if others went; nullopt: there is none.
  std::optional<std::string> FindBreak(Room room, const std::string& node,
                                       const std::vector<const TruePod*>& victims) const;

  const Truth& truth_;
  Questions& questions_;
  // By uid of a victim: the replica that told it last. If that replica then dies, the victim may not be deleted, and
  // the next leader may not need it to go.
  std::map<std::string, std::string> victims_;
  std::map<std::string, std::string> sent_;  // by uid of a pod: the node of the last bind that was sent
};

}  // namespace tutti::simulation
