// SPDX-License-Identifier: Apache-2.0
// Checks: checks the invariants after every step, on the store's truth, and looks at commands as they leave. A plan is
// judged by what its scheduler had seen when it made the plan. What it could not know yet is excused.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tests/simulation/pledges.h"
#include "tests/simulation/preemptions.h"
#include "tests/simulation/quota_checks.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/violation.h"

namespace tutti::simulation {

class Checks {
 public:
  // How long a gang may be half done, counted in time in which the scheduler could work: while faults go on, and after
  // they have stopped.
  struct HalfLimits {
    base::Millis with_faults_ms, without_ms;
  };
  Checks(Truth& truth, const HalfLimits& half_limits)
      : truth_(truth),
        half_limits_(half_limits),
        preemptions_(truth, questions_),
        quotas_(truth.store(), truth, questions_) {}

  // Judges from now on whether the pods that leave for a gang are of use to it.
  void JudgeVictims() { judges_victims_ = true; }

  // Notes that the replica has the lease from now on.
  void OnLead(const std::string& replica) {
    led_.emplace(replica, led_.size());
    led_since_ = truth_.newest();
  }
  // Notes that the API server did a write of the lease: the replica has it until `over_ms`. A write that made the Lease
  // goes by the state at `made_as_of_ms`. It cannot see one that was made and deleted since then, as
  // docs/availability.md says.
  void OnLease(const std::string& replica, base::Millis now, base::Millis over_ms,
               std::optional<base::Millis> made_as_of_ms);
  size_t terms() const { return led_.size(); }
  void OnSubmit(Replica& replica, const std::vector<cluster::Command>& commands);
  // Notes what a replica has decided about a gang's quota.
  void OnQuota(const Replica& replica, const observe::Observer::QuotaStep& step);
  using PodName = std::pair<std::string, std::string>;  // namespace, name; empty: of no pod
  // Notes that a bind took effect. `heard`: its sender will know.
  void OnBind(const std::string& replica, const PodName& pod, bool heard);
  // Notes that a bind of the pod was refused.
  void OnRefused(const PodName& pod);
  // Returns what is wrong with deleting the pod as it is; null: nothing. Must be called before the delete takes effect,
  // for the pod may be gone afterwards.
  std::optional<Violation> JudgeDelete(const PodName& pod);
  // Sets whether what takes effect now does so long after its deadline. No scheduler is to blame for what follows.
  void set_stray(bool stray) { truth_.set_stray(stray); }
  // Checks all that one step may have changed. `healthy_ms`: how long the scheduler has been able to see and act.
  void AfterStep(base::Millis healthy_ms);
  void OnSchedulerDied();
  void OnFaults(bool on, base::Millis healthy_ms);
  // Checks, while the world rests, that every waiting pod says why, and no other does.
  void AtRest();

  void Fail(std::string_view invariant, const std::string& message);
  const QuotaChecks& quotas() const { return quotas_; }
  const std::optional<Violation>& violation() const { return violation_; }
  uint64_t commands() const { return commands_; }
  const std::map<std::string_view, Asked>& asked() const { return questions_.asked(); }

 private:
  bool Excused(std::string_view invariant, bool excuse) { return questions_.Excused(invariant, excuse); }
  void FailIf(const std::optional<Violation>& violation) {
    if (violation) Fail(violation->invariant, violation->message);
  }
  void JudgeRecords();
  void CheckPatch(const Replica& replica, const cluster::Patch& patch, const TruePod& pod);
  void CheckBound(const std::string& uid);
  void CheckNode(const TruePod& pod, const Replica::Knowledge& known);
  void CheckAllowed(const TruePod& pod, const Replica::Knowledge& known);
  void CheckTopology(const TruePod& pod, const Replica::Knowledge& known);
  void CheckQueue(const TruePod& pod, const Replica::Knowledge& known);
  void CheckCommit(const TruePod& pod, const Replica::Knowledge& known);
  void CheckOrder(const TruePod& pod, const Replica::Knowledge& known);
  void CheckCount(const TruePod& pod);
  bool FindsNoPlace(const TruePod& pod, const Replica::Knowledge& known) const;
  // The binds of one plan that leave together.
  struct Departure {
    std::vector<const TruePod*> pods;
    std::string commit;  // uid of the member that is bound last
  };
  void CheckPlanWhole(const Replica& replica, const std::string& plan, const Departure& departure,
                      const Replica::Knowledge& known);
  void FollowGang(const std::string& key, base::Millis healthy_ms);

  Truth& truth_;
  const HalfLimits half_limits_;
  std::optional<Violation> violation_;
  std::unordered_map<std::string, Replica::Knowledge> plans_;  // by replica's name and plan
  // What a replica knew when it first wrote to a volume of a gang's member that it had not bound yet. First by the
  // replica's name and the gang, then by the replica's name and the plan that came of it and makes the gang whole.
  std::map<std::pair<std::string, std::string>, Replica::Knowledge> prepared_;
  std::unordered_map<std::string, Replica::Knowledge> prepared_plans_;
  std::unordered_map<std::string, std::string> plan_of_;         // the last plan that bound the pod of this uid
  std::set<std::string> refused_;                                // uids of pods of which a bind was refused
  std::map<std::string, std::vector<std::string>> ahead_;        // by plan: uids of such, while only their binds left
  std::unordered_map<std::string, Replica::Knowledge> deletes_;  // by uid: known at its last delete
  Questions questions_;
  Preemptions preemptions_;
  QuotaChecks quotas_;
  size_t records_ = 0;  // that were judged
  Pledges pledges_;
  std::set<std::string> unheard_;       // uids of pods whose bind took effect and whose reply did not arrive
  std::set<std::string> repaired_;      // uids of members that are evicted because their node is gone
  std::set<std::string> whole_before_;  // gangs that were whole at the last step
  std::set<std::string> half_;
  std::map<std::string, size_t> led_;                     // replicas that have led, and in which order
  Version led_since_ = 0;                                 // since when the last of them does
  std::string holder_;                                    // of the lease
  base::Millis lease_over_ms_ = 0, lease_taken_ms_ = -1;  // taken: or made again by its holder
  std::string planner_;  // the latest of led_ that has acted; one that lost its lease while it stood still may act, too
  std::set<std::string> kept_on_;  // gangs found half bound without their commit member: kept, and filled up
  base::Millis healthy_ms_ = 0;
  std::optional<base::Millis> calm_since_ms_;  // in healthy time; null: faults go on
  uint64_t commands_ = 0;
  bool judges_victims_ = false;
};

}  // namespace tutti::simulation
