// SPDX-License-Identifier: Apache-2.0
#include "core/publish/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "observe/naming.h"

namespace tutti::core {

using framework::Verdict;
using framework::Wake;
using observe::Reason;

namespace {

observe::Minimum MinimumOf(const Requirement& requirement) {
  observe::Minimum minimum{requirement.min, requirement.have, requirement.exist, {}, {}};
  minimum.roles.reserve(requirement.roles.size());
  for (const Requirement::Role& role : requirement.roles)
    minimum.roles.push_back({role.name, role.min, role.have, role.exist});
  minimum.units.reserve(requirement.units.size());
  for (const Requirement::Units& units : requirement.units)
    minimum.units.push_back({units.name, units.size, units.min, units.exist});
  return minimum;
}

Refusal Refuse(const Gang& gang, const Requirement& requirement, observe::Cause cause, Wake wakes) {
  Refusal refusal(Reason{.ns = gang.key.ns,
                         .gang = gang.key.name,
                         .lone = requirement.min == 1 && gang.members.size() == 1,
                         .minimum = MinimumOf(requirement),
                         .standing = requirement.standing,
                         .remark = {},
                         .cause = std::move(cause)});
  refusal.wakes = wakes;
  return refusal;
}

using NamedCounts = std::map<std::string, int64_t>;

// Says where the members are that could be taken for missing ones: on nodes that are gone, of roles without a minimum,
// or a head that names another scheduler. Empty: nowhere.
std::string SayElsewhere(const Gang& gang, const Requirement& requirement, const Census& census,
                         const std::string& head_scheduler, const cluster::ClusterState& state) {
  constexpr size_t kShown = 4;  // by name
  std::vector<std::string> sentences;
  NamedCounts gone, others;
  for (const Member* member : census.lost) ++gone[state.pod(member->pod).pod->node_name];
  if (std::ranges::any_of(requirement.roles, [](const Requirement::Role& role) { return role.exist < role.min; }))
    for (const Member* member : census.pending)
      if (!member->role.empty() &&
          !std::ranges::binary_search(gang.spec.roles, member->role, {}, &model::RoleSpec::name))
        ++others[member->role];
  if (!head_scheduler.empty()) sentences.push_back(fmt::format("Its head names {}.", observe::Named(head_scheduler)));
  for (const auto& [role, members] : others)
    if (sentences.size() < kShown)
      sentences.push_back(fmt::format("{} {} role {}, which has no minimum.", members, members == 1 ? "has" : "have",
                                      observe::Named(role)));
  for (const auto& [node, members] : gone)
    if (sentences.size() < 2 * kShown)
      sentences.push_back(
          fmt::format("{} {} on node {}, which is gone.", members, members == 1 ? "is" : "are", observe::Named(node)));
  return fmt::format("{}", fmt::join(sentences, " "));
}

// The refusal, with figures as of now.
Refusal Counted(Refusal refusal, base::Millis now_ms) {
  refusal.figures_ms = now_ms;
  return refusal;
}

}  // namespace

Refusal ExplainProblem(const Gang& gang, const std::string& problem) {
  return Refuse(gang, {}, observe::Problem{problem}, Wake::kMembers);
}

Refusal ExplainQuota(const Gang& gang, observe::AwaitsQuota awaits, const Requirement& requirement) {
  return Refuse(gang, requirement, std::move(awaits), Wake::kNothing);
}

Refusal ExplainUndoing(const Gang& gang) { return Refuse(gang, {}, observe::BeingUndone{}, Wake::kMembers); }

Refusal ExplainVictims(const Gang& gang, const Requirement& requirement, const cluster::ClusterState& state) {
  observe::AwaitsVictims awaits;
  for (const Victim& victim : gang.preemption->victims) {
    const cluster::PodEntry& entry = state.pod(victim.pod);
    if (!entry.pod || !entry.node) continue;
    awaits.pods.push_back(entry.pod->meta.ns + "/" + entry.pod->meta.name);
    awaits.nodes.push_back(state.snapshot().node(entry.node).name);
  }
  std::ranges::sort(awaits.pods);
  std::ranges::sort(awaits.nodes);
  awaits.nodes.erase(std::ranges::unique(awaits.nodes).begin(), awaits.nodes.end());
  return Refuse(gang, requirement, std::move(awaits), Wake::kNothing);
}

Refusal ExplainAwaitedPods(const Gang& gang, const GangBook& book) {
  observe::Minimum minimum;
  std::map<std::string, observe::Minimum::Role> roles;
  for (const auto& [id, assignment] : gang.plan->open) {
    const Member& member = book.at(id);
    if (member.late) continue;
    const int64_t exists = member.promised ? 0 : 1;
    ++minimum.members;
    minimum.exist += exists;
    observe::Minimum::Role& role = roles[member.role];
    ++role.min;
    role.exist += exists;
  }
  minimum.have = minimum.members;
  for (auto& [name, role] : roles)
    if (!name.empty()) minimum.roles.push_back({name, role.min, role.min, role.exist});
  return Refusal(
      Reason{.ns = gang.key.ns, .gang = gang.key.name, .minimum = std::move(minimum), .cause = observe::AwaitsPods{}});
}

Refusal ExplainMembers(const Gang& gang, const Requirement& requirement, const Census& census,
                       const Strangers& strangers, const cluster::ClusterState& state) {
  const std::string head = requirement.head_missing ? strangers.OfHead(gang.key) : std::string();
  const bool no_head = requirement.head_missing && head.empty();
  Refusal refusal =
      Refuse(gang, requirement, observe::LacksMembers{no_head, census.gated, census.deleting, strangers.Of(gang.key)},
             Wake::kMembers);
  const std::string elsewhere = SayElsewhere(gang, requirement, census, head, state);
  if (!elsewhere.empty()) refusal.AddRemark(elsewhere);
  return refusal;
}

observe::Standing StandingOf(const Requirement& requirement) {
  if (requirement.met()) return {};
  observe::Standing standing{false, requirement.min - requirement.lacking(), requirement.min, {}};
  for (const Requirement::Role& role : requirement.roles)
    if (role.have < role.min) standing.roles.push_back({role.name, role.min, role.have, role.exist});
  return standing;
}

Refusal ExplainRefusedBind(const Gang& gang, const Requirement& requirement, const Member& member,
                           const cluster::ClusterState& state, base::Millis now_ms) {
  return Counted(
      Refuse(gang, requirement, observe::BindRefused{state.pod(member.pod).pod->meta.name, member.refused->why},
             Wake::kMembers),
      now_ms);
}

Refusal ExplainExtender(const Gang& gang, const Requirement& requirement, const std::string& failure) {
  return Refuse(gang, requirement, observe::ExtenderFailed{failure}, Wake::kAll);
}

Refusal ExplainPart(const Gang& gang, const Requirement& requirement, const Member& member, int64_t size,
                    int64_t lacks) {
  const model::UnitSpec* units = UnitsOf(gang, member);
  return Refuse(gang, requirement, observe::LacksPart{units ? units->name : member.role, units != nullptr, size, lacks},
                Wake::kMembers);
}

Refusal ExplainNoHead(const Gang& gang, const Member* head, const cluster::ClusterState& state) {
  observe::NoHead cause;
  if (head) {
    const model::Pod& pod = *state.pod(head->pod).pod;
    cause = {pod.bound() ? observe::NoHead::Until::kAtWork : observe::NoHead::Until::kPlaced, pod.meta.name};
  }
  return Refuse(gang, {}, std::move(cause), Wake::kMembers | Wake::kNodeAdded);  // its node may come back
}

Refusal ExplainBelowMinimum(const Gang& gang, const Requirement& requirement) {
  return Refuse(gang, requirement, observe::BelowMinimum{}, Wake::kMembers);
}

Refusal ExplainGivingWay(const Gang& gang, const Requirement& requirement) {
  return Refuse(gang, requirement, observe::GivesWay{}, Wake::kMembers);
}

Refusal ExplainQueue(const Gang& gang, const Requirement& requirement, const Admission& admission, base::Millis now_ms,
                     bool min_resources) {
  observe::QueueRefuses cause;
  cause.problem = admission.problem;
  cause.starting = std::max<int64_t>(requirement.lacking(), 1);
  cause.by_min_resources = min_resources;
  cause.limit = admission.limit;
  cause.cells = admission.shortages;
  const bool waits_for_room = admission.problem.empty();
  Refusal refusal =
      Refuse(gang, requirement, std::move(cause), waits_for_room ? Wake::kMembers : Wake::kQueue | Wake::kMembers);
  if (waits_for_room) refusal.asks_queue = admission.asked;
  if (!admission.remark.empty()) refusal.AddRemark(admission.remark);
  return Counted(std::move(refusal), now_ms);
}

Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, const PlanResult& result,
                     std::optional<observe::PreemptionRefused> preemption) {
  observe::LacksNodes cause;
  cause.preemption = std::move(preemption);
  cause.gave_up = result.verdict == Verdict::kGaveUp;
  cause.refusals = result.refusals;
  if (requirement.min != 1 || gang.members.size() != 1) {
    cause.figures = result.figures;
    cause.nearest = result.nearest;
  } else if (result.nearest && result.nearest->domains == 0) {
    cause.nearest = result.nearest;  // why it will never fit; how near it comes is said by the nodes
  }
  Refusal refusal = Refuse(gang, requirement, std::move(cause), result.wakes | Wake::kMembers);
  refusal.plugins = result.refusals.plugins;
  return refusal;
}

Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, std::shared_ptr<Certificate> certificate,
                     std::optional<observe::PreemptionRefused> preemption) {
  Refusal refusal = ExplainNodes(gang, requirement, certificate->result, std::move(preemption));
  refusal.figures_ms = certificate->made_ms;
  refusal.figures_id = certificate->figures_id;
  refusal.certificate = std::move(certificate);
  return refusal;
}

bool WasCutOff(const Refusal& refusal) {
  return refusal.certificate && CertificateOf(*refusal.certificate).result.verdict == Verdict::kGaveUp;
}

bool HasFigures(GangState state) {
  return state == GangState::kWaitingForNodes || state == GangState::kWaitingForQueue;
}

bool KeepFigures(const Refusal& before, base::Millis for_ms, Refusal* now) {
  if (!HasFigures(now->state()) || now->figures_ms >= before.figures_ms + for_ms ||
      !observe::SameButFigures(before.reason(), now->reason()))
    return false;
  const bool differ = before.reason() != now->reason() && before.words() != now->words();
  now->KeepReasonOf(before);
  now->figures_id = before.figures_id;
  return differ;
}

Refusal ExplainMinResources(const Gang& gang, const Requirement& requirement, const std::string& resource,
                            int64_t asked, int64_t free, base::Millis now_ms) {
  return Counted(Refuse(gang, requirement, observe::LacksMinResources{resource, asked, free},
                        Wake::kMembers | Wake::kPodGone | Wake::kNodeAdded | Wake::kNodeCapacity),
                 now_ms);
}

Refusal ExplainSum(const Gang& gang, const std::string& resource, int64_t asked, int64_t free) {
  return Refuse(gang, {}, observe::LacksMinResources{resource, asked, free, /*of_pods=*/true},
                Wake::kMembers | Wake::kPodGone | Wake::kNodeAdded | Wake::kNodeCapacity | Wake::kNodeTaints);
}

}  // namespace tutti::core
