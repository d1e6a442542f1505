// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quota_pass.h"

#include "core/publish/explain.h"

namespace tutti::core {

using model::GangId;
using Step = observe::Observer::QuotaStep::Kind;

namespace {

constexpr const char* kNotNow = "its members cannot be placed now";

using NodesByRole = std::map<std::string, std::vector<std::string>>;

// Says why there are no nodes without the gang's name: all that ask for the same are told so, also in other namespaces.
std::string UnnamedWords(const Refusal& refusal) {
  observe::Reason reason = refusal.reason();
  reason.ns.clear();
  reason.gang.clear();
  return observe::Say(reason).Full();
}

// Keeps these nodes for the members that have no place.
void KeepOn(NodesByRole nodes, const Census& census, cluster::ClusterState* state) {
  for (const Member* member : census.pending) {
    std::vector<std::string>& of_role = nodes[member->role];
    if (of_role.empty()) continue;
    state->KeepNode(member->pod, of_role.back());
    of_role.pop_back();
  }
}

// Returns the nodes that are kept for the gang's members while its victims leave.
NodesByRole KeptFor(const Census& census, const cluster::ClusterState& state) {
  NodesByRole nodes;
  for (const Member* member : census.pending)
    if (const std::string* node = state.kept_node(member->pod)) nodes[member->role].push_back(*node);
  return nodes;
}

}  // namespace

void QuotaPass::Mark(GangId id) {
  agenda_.MarkReady(id);
  agenda_.Touch(id);
}

void QuotaPass::Run() {
  std::vector<GangId> barred;
  const std::vector<GangId> followed = desk_.Renew(&barred);
  for (const GangId id : barred) gate_.TellEvicted(id);
  for (const GangId id : followed) {
    gate_.TellIfAdmitted(id);
    gate_.TellIfReady(id);
    gate_.ReleaseIfStopped(id);
    Mark(id);
  }
  // Those that have quota already have their nodes before any other is given some.
  const auto seeks = [this](GangId id) {
    const Gang& gang = book_.at(id);
    return gang.quota && gang.quota->taken_over && !gang.quota->placed && gang.quota->seeks_nodes();
  };
  for (const GangId id : followed)
    if (const Gang& gang = book_.at(id); gang.quota && gang.quota->has() && gang.quota->fit != model::Fit::kNodes)
      sums_.Follow(id, gang, true);
  for (const GangId id : followed)
    if (seeks(id)) stated_.Keep(id);
  for (const GangId id : followed)
    if (seeks(id)) Consider(id);
  for (const GangId id : auto_fits_.TakeChanged(state_.snapshot())) {
    if (book_.at(id).quota) desk_.Retry(id);
    Mark(id);
  }
  const queue::NodeRules nodes{
      [this](GangId id, const queue::Assignment& assignment) { return Place(id, assignment); },
      [this](GangId id, const queue::Assignment& assignment, const std::vector<queue::Victim>& victims) {
        return WouldPlace(id, assignment, victims);
      },
      [this](GangId id) { KeepNodes(id); }};
  found_.clear();
  if (!desk_.any()) return;
  const Announcer::Instant started = Announcer::Now();
  const queue::PassResult result = desk_.Run(nodes);
  announcer_.QuotaAttempts(result.fruitful, result.fruitless, started);
  Follow(result);
}

void QuotaPass::Consider(GangId id) {
  consideration_.Run(id);
  figures_.Regroup(id);
  agenda_.Touch(id);
}

void QuotaPass::Follow(const queue::PassResult& result) {
  for (const auto& evicted : result.evicted) {
    gate_.TellEvicted(evicted.gang, evicted.by);
    gate_.ReleaseIfStopped(evicted.gang);
    Mark(evicted.gang);
  }
  for (const auto& admitted : result.admitted) {
    const Gang& gang = book_.at(admitted.gang);
    if (admitted.replaces != admitted.gang) announcer_.Quota(gang, Step::kReserved, desk_.QueueName(gang));
    gate_.TellIfAdmitted(admitted.gang);
    Mark(admitted.gang);
    if (admitted.replaces.valid()) Mark(admitted.replaces);
  }
  // One that was refused nodes is ready again once there may be some.
  for (const GangId id : result.refused) {
    if (book_.at(id).promises > 0) promises_.Follow(id);  // it may expect nothing any more
    if (desk_.LacksNodes(id) && (book_.at(id).whole || book_.at(id).state == dialects::GangState::kWaitingForNodes))
      agenda_.Touch(id);
    else
      Mark(id);
  }
}

// The gang is considered as any other, with the quota that it would have; so its nodes are held from here on.
std::string QuotaPass::Place(GangId id, const queue::Assignment& assignment) {
  Gang& gang = book_.at(id);
  if (!book_.at(id).quota->has()) desk_.DecideFit(id);
  if (std::string why = WhySumsLack(id, assignment, {}); !why.empty()) return why;
  if (!gang.quota->needs_nodes()) return {};
  if (gang.whole && gang.quota->has()) return PlaceMore(id, assignment);
  NodesByRole kept = KeptFor(*book_.CensusOf(gang), state_);
  desk_.Try(id, assignment);
  Consider(id);
  const bool placed =
      gang.state == GangState::kAdmitted || gang.state == GangState::kBinding || gang.state == GangState::kWhole;
  desk_.EndTry(id, placed);
  desk_.SetPlaced(id, placed);
  std::string why;
  if (!placed) {
    why = gang.refusal ? UnnamedWords(*gang.refusal) : std::string();
    if (why.empty()) why = kNotNow;
    promises_.Follow(id);
    KeepOn(std::move(kept), *book_.CensusOf(gang), &state_);
  }
  return why;
}

std::string QuotaPass::PlaceMore(GangId id, const queue::Assignment& assignment) {
  desk_.Try(id, assignment);
  promises_.Follow(id);
  const std::optional<Refusal> refusal = grow_.PlaceMinimum(id);
  desk_.EndTry(id, !refusal);
  if (!refusal) return {};
  promises_.Follow(id);
  Mark(id);  // its members have other reasons now, also where those have the same words
  return UnnamedWords(*refusal);
}

std::string QuotaPass::WhySumsLack(GangId id, const queue::Assignment& assignment,
                                   const std::vector<queue::Victim>& victims) {
  Gang& gang = book_.at(id);
  if (gang.quota->fit != model::Fit::kAggregate || gang.quota->terms->awaits_checks) return {};
  std::map<std::string, int64_t> counts;
  for (const queue::RoleAssignment& role : assignment.roles) counts[role.name] = role.count;
  model::ResourceList asked = DemandOf(gang.quota->declared.promised, counts), leaving;
  for (const Member* member : gang.members)
    if (const cluster::PodEntry& entry = state_.pod(member->pod); entry.node.valid() && !entry.pod->done())
      SubtractUpTo(entry.pod->spec->requests, &asked);
  for (const model::PodId pod : desk_.PodsOf(victims)) leaving.AddAll(state_.pod(pod).pod->spec->requests);
  const auto lack = sums_.LackFor(id, asked, leaving);
  if (!lack) {
    if (victims.empty()) sums_.Follow(id, gang, true, std::move(counts));
    return {};
  }
  Refusal refusal = ExplainSum(gang, lack->resource, lack->asked, lack->free);
  std::string why = UnnamedWords(refusal);
  NoteRefusal(gang, std::move(refusal));
  figures_.Regroup(id);
  agenda_.Touch(id);
  return why;
}

// One that asks for more does not wait for that itself: the members do that it would have besides.
void QuotaPass::NoteRefusal(Gang& gang, Refusal refusal) {
  if (!gang.whole) return book_.Refuse(gang, std::move(refusal));
  RefuseWaiting(*book_.CensusOf(gang), refusal);
  book_.SetState(gang, gang.state, std::move(refusal));
}

std::string QuotaPass::WouldPlace(GangId id, const queue::Assignment& assignment,
                                  const std::vector<queue::Victim>& victims) {
  if (!book_.at(id).quota->has()) desk_.DecideFit(id);
  if (std::string why = WhySumsLack(id, assignment, victims); !why.empty()) return why;
  if (!book_.at(id).quota->needs_nodes()) return {};
  NodesByRole kept = KeptFor(*book_.CensusOf(book_.at(id)), state_);
  desk_.Try(id, assignment);
  promises_.Follow(id);
  Found found;
  std::string why = WhyNotPlaced(id, victims, &found);
  desk_.EndTry(id, false);
  promises_.Follow(id);
  KeepOn(std::move(kept), *book_.CensusOf(book_.at(id)), &state_);
  if (why.empty()) {
    found.assignment = assignment;
    found_[id] = std::move(found);
    return why;
  }
  figures_.Regroup(id);
  agenda_.Touch(id);
  return why;
}

void QuotaPass::KeepNodes(GangId id) {
  const auto at = found_.find(id);
  if (at == found_.end()) return;
  Found found = std::move(at->second);
  found_.erase(at);
  desk_.Expect(id, found.assignment);
  promises_.Follow(id);
  KeepOn(std::move(found.nodes), *book_.CensusOf(book_.at(id)), &state_);
}

std::string QuotaPass::WhyNotPlaced(GangId id, const std::vector<queue::Victim>& gone, Found* found) {
  Gang& gang = book_.at(id);
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  const Requirement requirement = Require(gang, *census);
  if (requirement.met()) return {};
  if (!requirement.reachable()) return kNotNow;
  const cluster::WhatIf::Scope scope(planner_.what_if());
  for (const model::PodId pod : desk_.PodsOf(gone)) planner_.what_if().Evict(pod);
  const PlanResult result = planner_.PlaceRequired(gang, census->pending, requirement);
  for (const cluster::Placement& placement : result.placements)
    found->nodes[book_.at(placement.member).role].push_back(state_.snapshot().node(placement.node).name);
  if (result.fits) return {};
  Refusal refusal = ExplainNodes(gang, requirement, result);
  std::string why = UnnamedWords(refusal);
  NoteRefusal(gang, std::move(refusal));
  return why;
}

}  // namespace tutti::core
