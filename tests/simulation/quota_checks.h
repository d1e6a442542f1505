// SPDX-License-Identifier: Apache-2.0
// QuotaChecks: the invariants of queues that give quota before there are pods. A decision is judged by what its
// scheduler had seen when it took it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/quota_truth.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/violation.h"

namespace tutti::simulation {

inline constexpr std::string_view kWithinQuota = "no quota is given beyond what there is";
inline constexpr std::string_view kGivenOnce = "nothing is admitted twice";
inline constexpr std::string_view kHeldUntilGone = "a victim has its quota until its pods are gone";
inline constexpr std::string_view kAdmittedFirst = "no job starts before it is admitted";
inline constexpr std::string_view kHeldOrAdmitted = "each job of a queue is held or admitted";
inline constexpr std::string_view kOfUse = "what is admitted has places";
inline constexpr std::string_view kNotHalfAdmitted = "nothing stays half admitted";
inline constexpr std::string_view kOneWorkload = "a job has one Workload, and a Workload a job";
inline constexpr std::string_view kOfQuota[] = {kWithinQuota,    kGivenOnce, kHeldUntilGone,   kAdmittedFirst,
                                                kHeldOrAdmitted, kOfUse, kNotHalfAdmitted, kOneWorkload};

class QuotaChecks {
 public:
  QuotaChecks(sim::Store& store, const Truth& truth, Questions& questions)
      : truth_(truth), quotas_(store, truth), questions_(questions) {}

  // Notes what a scheduler has decided about a gang's quota.
  std::optional<Violation> OnQuota(const Replica& replica, const observe::Observer::QuotaStep& step);
  // Judges a command as it leaves: does it start a job?
  std::optional<Violation> OnSubmit(const cluster::Command& command);
  std::optional<Violation> AfterStep();
  // Judges all jobs while the world rests. `term_since`: since when the one that leads does.
  std::optional<Violation> AtRest(Version term_since);

  // Tells whether the gang ("kueue/namespace/name") was given quota, whether or not its Workload says so yet.
  bool HasGiven(const std::string& gang) const {
    return gang.starts_with("kueue/") && decided_.contains(gang.substr(gang.rfind('/') + 1));
  }
  size_t workloads() const { return quotas_.workloads().size(); }

 private:
  bool AnyIsOutdated(const std::vector<std::string>& workloads) const;
  std::optional<Violation> JudgeJob(const std::string& uid, const TrueJob& job, Version term_since) const;
  bool Ask(std::string_view invariant, bool excuse = false) const { return questions_.Excused(invariant, excuse); }

  const Truth& truth_;
  QuotaTruth quotas_;
  Questions& questions_;
  std::map<std::string, Replica::Knowledge> decided_;  // by Workload: known when it was last given quota
  // By replica and Workload: it has given its quota back, and was given none since.
  std::set<std::pair<std::string, std::string>> released_;
  // Workloads that gave back what had not been seen yet that they had. No scheduler could wait for them to say so.
  std::set<std::string> unseen_;
  // Of those, the ones that were given quota again; each with the version at which the next write of it left.
  std::map<std::string, std::optional<Version>> outdated_;
};

}  // namespace tutti::simulation
