// SPDX-License-Identifier: Apache-2.0
// Explain: turns what stopped a gang into its Refusal: the Reason, and the events that could change it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/admit/queues.h"
#include "core/gangs/census.h"
#include "core/gangs/gang.h"
#include "core/place/certificates.h"
#include "core/place/planner.h"

namespace tutti::core {

// GangSpec::problem.
Refusal ExplainProblem(const Gang& gang, const std::string& problem);

// Its plan failed, and what is bound of it has to go before it starts again.
Refusal ExplainUndoing(const Gang& gang);

// It has its places, and pods are in the way that are being evicted for it. REQUIRES: a preemption with victims.
Refusal ExplainVictims(const Gang& gang, const Requirement& requirement, const cluster::ClusterState& state);

// Too few members exist: which minimum, how many there are, how many are held back by gates; `strangers` are the
// schedulers that more pods of the gang name, and how many.
Refusal ExplainMembers(const Gang& gang, const Requirement& requirement, const Census& census,
                       std::vector<std::pair<std::string, int64_t>> strangers);

// How a gang stands that was whole.
observe::Standing StandingOf(const Requirement& requirement);

// The member's binds were refused wherever it went, and without it the minimum is not reached.
Refusal ExplainRefusedBind(const Gang& gang, const Requirement& requirement, const Member& member,
                           const cluster::ClusterState& state, base::Millis now_ms);

// An extender that may not be ignored failed when it was asked about a member.
Refusal ExplainExtender(const Gang& gang, const Requirement& requirement, const std::string& failure);

// Of a whole gang: of the member's role, or in its unit, `size` start together, and so many lack.
Refusal ExplainPart(const Gang& gang, const Requirement& requirement, const Member& member, int64_t size,
                    int64_t lacks);

// Of a gang that was whole: no head is at work, and others wait for one. `head`: one that exists and is not at work;
// null: none does.
Refusal ExplainNoHead(const Gang& gang, const Member* head, const cluster::ClusterState& state);

// Of a gang that was whole: some of its minimum lack and have no place, and what it could take besides waits.
Refusal ExplainBelowMinimum(const Gang& gang, const Requirement& requirement);

// Its queue gives quota before there are pods, and the gang has none or may not use it yet.
Refusal ExplainQuota(const Gang& gang, observe::AwaitsQuota awaits);

// The queue's path does not admit them. `min_resources`: they ask for less than the gang's minResources, which count.
Refusal ExplainQueue(const Gang& gang, const Requirement& requirement, const Admission& admission, base::Millis now_ms,
                     bool min_resources = false);

// No nodes: how many fit, by role, and what is missing; for a lone pod just the nodes' sentence. On top of a whole gang
// `requirement.min` members wait so, and `result` is of the first of them that start together.
Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, const PlanResult& result,
                     std::optional<observe::PreemptionRefused> preemption = {});

// The same by a certificate, for as long as that holds.
Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, std::shared_ptr<Certificate> certificate,
                     std::optional<observe::PreemptionRefused> preemption = {});

// The search was cut off: what it waits by is no proof.
bool WasCutOff(const Refusal& refusal);

// What it says counts something that others change.
bool HasFigures(GangState state);

// New figures alone are not news each time, or a busy cluster would rewrite waiting pods at every bind: if `now` says
// what `before` does but for its figures, and those were counted within `for_ms`, it keeps them. True: it does, and
// they differ.
bool KeepFigures(const Refusal& before, base::Millis for_ms, Refusal* now);

// Its minResources exceed what all nodes together have free of `resource`.
Refusal ExplainMinResources(const Gang& gang, const Requirement& requirement, const std::string& resource,
                            int64_t asked, int64_t free, base::Millis now_ms);

}  // namespace tutti::core
