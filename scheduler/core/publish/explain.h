// SPDX-License-Identifier: Apache-2.0
// Explain: turns what stopped a gang into its Refusal: the Reason, and the events that could change it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/admit/queues.h"
#include "core/gangs/census.h"
#include "core/gangs/gang.h"
#include "core/gangs/strangers.h"
#include "core/place/certificates.h"
#include "core/place/planner.h"

namespace tutti::core {

// Explains GangSpec::problem.
Refusal ExplainProblem(const Gang& gang, const std::string& problem);

// Explains that the gang's plan failed, and what is bound of it has to go before it starts again.
Refusal ExplainUndoing(const Gang& gang);

// Explains that the gang has its places, and pods are in the way that are being evicted for it. REQUIRES: a preemption
// with victims.
Refusal ExplainVictims(const Gang& gang, const Requirement& requirement, const cluster::ClusterState& state);

// Explains that the gang is admitted, and some pods of its minimum are still to be created. REQUIRES: a plan that
// awaits pods.
Refusal ExplainAwaitedPods(const Gang& gang, const GangBook& book);

// Explains that too few members exist: which minimum, how many there are, and where the others are: held back by gates,
// on nodes that are gone, of roles without a minimum, or with other schedulers (`strangers`).
Refusal ExplainMembers(const Gang& gang, const Requirement& requirement, const Census& census,
                       const Strangers& strangers, const cluster::ClusterState& state);

// Returns how a gang stands that was whole.
observe::Standing StandingOf(const Requirement& requirement);

// Explains that the member's binds were refused wherever it went, and without it the minimum is not reached.
Refusal ExplainRefusedBind(const Gang& gang, const Requirement& requirement, const Member& member,
                           const cluster::ClusterState& state, base::Millis now_ms);

// Explains that an extender that may not be ignored failed when it was asked about a member.
Refusal ExplainExtender(const Gang& gang, const Requirement& requirement, const std::string& failure);

// Explains why a member of a whole gang waits: `size` members of its role, or of its unit, start together, and `lacks`
// of them do not exist.
Refusal ExplainPart(const Gang& gang, const Requirement& requirement, const Member& member, int64_t size,
                    int64_t lacks);

// Explains why a gang that was whole waits: no head is at work, and others wait for one. `head`: one that exists and is
// not at work; null: none does.
Refusal ExplainNoHead(const Gang& gang, const Member* head, const cluster::ClusterState& state);

// Explains why a gang that was whole waits: some of its minimum lack and have no place, and what it could take besides
// waits.
Refusal ExplainBelowMinimum(const Gang& gang, const Requirement& requirement);

// Explains why members of a whole gang wait while others of it are being evicted.
Refusal ExplainGivingWay(const Gang& gang, const Requirement& requirement);

// Explains that the gang has no quota, or may not use it yet; or has none for the members of `requirement`, which it
// takes besides. Its queue gives quota before there are pods.
Refusal ExplainQuota(const Gang& gang, observe::AwaitsQuota awaits, const Requirement& requirement = {});

// Explains that the queue's path does not admit the members. `min_resources`: they ask for less than the gang's
// minResources, which count.
Refusal ExplainQueue(const Gang& gang, const Requirement& requirement, const Admission& admission, base::Millis now_ms,
                     bool min_resources = false);

// Explains that there are no nodes: how many fit, by role, and what is missing; for a lone pod just the nodes'
// sentence. On top of a whole gang `requirement.min` members wait so, and `result` is of the first of them that start
// together.
Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, const PlanResult& result,
                     std::optional<observe::PreemptionRefused> preemption = {});

// Explains the same by a certificate, for as long as that holds.
Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, std::shared_ptr<Certificate> certificate,
                     std::optional<observe::PreemptionRefused> preemption = {});

// Returns true if the search ran out of budget, so the refusal proves nothing.
bool WasCutOff(const Refusal& refusal);

// Returns true for states whose reason contains figures that other gangs change.
bool HasFigures(GangState state);

// Keeps the figures of `before` if `now` says the same but for its figures, and those were counted within `for_ms`. New
// figures alone are not news each time, or a busy cluster would rewrite waiting pods at every bind. Returns true if it
// keeps them, and they differ.
bool KeepFigures(const Refusal& before, base::Millis for_ms, Refusal* now);

// Explains that the gang's minResources exceed what all nodes together have free of `resource`.
Refusal ExplainMinResources(const Gang& gang, const Requirement& requirement, const std::string& resource,
                            int64_t asked, int64_t free, base::Millis now_ms);
// All nodes together have less of the resource free than the gang's pods ask for, and that is all that it needs.
Refusal ExplainSum(const Gang& gang, const std::string& resource, int64_t asked, int64_t free);

}  // namespace tutti::core
