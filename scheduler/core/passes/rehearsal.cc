// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rehearsal.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/gangs/draft.h"
#include "core/gangs/fit.h"
#include "core/gangs/lightest.h"
#include "core/gangs/topology.h"
#include "core/gangs/waiting_line.h"
#include "core/passes/trial.h"
#include "core/publish/explain.h"
#include "model/gang_rank.h"

namespace tutti::core {

using dialects::GangState;
using model::GangDraft;
using model::GangId;
using model::NodeId;
using model::PodId;
using observe::Outlook;
using observe::Prospect;
using queue::QueueId;

namespace {

// What a question may spend before the last of its gangs is looked at, in units of the budget; some 10 ms.
constexpr int64_t kWorkOfQuestion = 800'000;
// What it takes to look at a gang besides its search, in the same units; and at a node, for pods of a class that was
// not asked about before, and for a lone pod that others may leave for.
constexpr int64_t kWorkOfGang = 500, kWorkOfNode = 8;
// The same for a gang that was looked at to say whether another one has quota.
constexpr int64_t kWorkOfLook = 20;

constexpr const char* kUnplacedNote =
    "It is admitted without places on nodes. Its pods then wait for nodes, which is what this answer is about.";
constexpr const char* kExtenderNote = "Extenders were not asked.";
constexpr const char* kVolumeNote = "Claims of volumes count as they are in the cluster now.";
constexpr const char* kVictimNote = "Whether other pods would leave for it was not asked.";
constexpr const char* kTopologyNote =
    "Its rules of topology were asked for the members that leave, and not together with those that stay.";
constexpr const char* kNotLookedAt =
    "The question is so large that this gang was not looked at. Ask about fewer gangs at once.";

bool IsMeant(const observe::LimitChange& change, const std::string& queue, const std::string& dialect) {
  return queue == change.queue && (change.dialect.empty() || dialect == change.dialect);
}

// Has the leaf own so much of the resource, in that flavor; "": in the only one. Returns why it cannot: "" where it
// does.
std::string SetNominal(const std::string& in, const std::string& resource, int64_t amount, model::LeafQueueSpec* leaf) {
  std::vector<model::CellQuota*> cells;
  for (model::ResourceGroup& group : leaf->groups)
    for (model::FlavorQuota& flavor : group.flavors)
      for (auto& [name, quota] : flavor.resources)
        if (name == resource && (in.empty() || flavor.flavor == in)) cells.push_back(&quota);
  if (cells.size() > 1)
    return fmt::format("ClusterQueue {0} has quota for {1} in {2} flavors, and the question does not say of which: ask "
                       "about FLAVOR:{1}.",
                       leaf->name, resource, cells.size());
  if (cells.empty())
    return fmt::format("ClusterQueue {} has no quota for {}{}.", leaf->name, resource,
                       in.empty() ? "" : fmt::format(" in flavor {}", in));
  cells.front()->nominal = amount;
  return {};
}

// Whether a search could not place it even if nothing else were on the nodes.
bool IsHopeless(const PlanResult& result) {
  if (!result.refusals.of_class.empty() || (result.nearest && result.nearest->domains == 0)) return true;
  const observe::Figures& figures = *result.figures;
  return std::ranges::any_of(figures.shorts, [&figures](const observe::Figures::Short& it) {
    return figures.NeedsMoreNodes(it, 1) || it.NeedsLargerNode();
  });
}

// Of a gang that finds no places.
Prospect::Verdict VerdictOf(const PlanResult& result) {
  if (result.verdict == framework::Verdict::kGaveUp) return Prospect::Verdict::kUndecided;
  return IsHopeless(result) ? Prospect::Verdict::kNever : Prospect::Verdict::kWaitsForNodes;
}

// Whether the queue, or one above it, is declared to hold less than is asked for.
bool IsBeyondCapability(const Admission& admission) {
  return admission.limit == observe::QueueRefuses::Limit::kCapability &&
         std::ranges::any_of(admission.shortages, [](const auto& cell) { return cell.asked > cell.limit; });
}

// Whether its queue could not give it quota even if no other gang had any.
bool IsHopeless(queue::WaitReason reason) {
  using queue::WaitReason;
  return reason == WaitReason::kExceedsMaxQuota || reason == WaitReason::kNoMatchingFlavor ||
         reason == WaitReason::kMisconfigured;
}

void AddNote(std::string note, Prospect* prospect) {
  if (std::ranges::find(prospect->notes, note) == prospect->notes.end()) prospect->notes.push_back(std::move(note));
}

void AddLeftOut(int64_t gangs, Outlook* outlook) {
  if (gangs > 0)
    outlook->notes.push_back(fmt::format("Gangs that wait in the queue and were not looked at: {}.", gangs));
}

std::string CountPods(int64_t count) { return count == 1 ? "1 pod" : fmt::format("{} pods", count); }

// The member as its controller would make it again elsewhere.
GangDraft::Member AnotherOf(const Member* member, const model::Pod& pod) {
  GangDraft::Member another;
  another.pod = Afresh(pod);
  another.priority = pod.spec->priority;
  if (member == nullptr) return another;
  another.role = member->role;
  another.topology = member->topology;
  return another;
}

// Whether the gang, which was whole, has less than its minimum without what it has on the node.
bool BreaksWithout(NodeId node, const Gang& gang, Census census, const cluster::ClusterState& state) {
  if (gang.lone || !gang.whole) return false;
  const auto gone = std::remove_if(census.placed.begin(), census.placed.end(),
                                   [&](const Member* member) { return state.pod(member->pod).node == node; });
  census.placed.erase(gone, census.placed.end());
  return !Require(gang, census).met();
}

}  // namespace

class Rehearsal::Relimited {
 public:
  // No gang is woken by it, for the limits are what they were before any gang is considered.
  Relimited(Queues& queues, QueueWaits& waits, QueueId queue, const Amounts& amounts)
      : queues_(queues), before_(queues.tree().spec(queue)) {
    if (queues_.Renew()) waits.OnLimitsChanged();
    model::QueueSpec now = before_;
    for (const auto& [resource, amount] : amounts.at("")) now.capability.Set(resource, amount);
    Put(std::move(now));
  }
  ~Relimited() { Put(before_); }
  Relimited(const Relimited&) = delete;
  Relimited& operator=(const Relimited&) = delete;

 private:
  void Put(model::QueueSpec spec) {
    queues_.Put(std::move(spec));
    queues_.Renew();
  }
  Queues& queues_;
  const model::QueueSpec before_;
};

std::optional<Outlook> Rehearsal::Run(const observe::WhatIf& what_if) {
  if (what_if.limit) return Relimit(*what_if.limit);
  const StartWalk::Look look = [this](GangId id, const GangDraft& draft, Trial& trial) {
    Prospect prospect = Describe(draft);
    Look(id, draft, trial, &prospect);
    return prospect;
  };
  if (what_if.waits) return forecast_.Await(*what_if.waits, look);
  if (!what_if.drained.empty()) return Drain(what_if.drained);
  const std::vector<const GangDraft*> asked = InOrder(what_if.gangs);
  Outlook outlook = Answer(asked, NodeId());
  forecast_.AddStarts(asked, look, &outlook);
  return outlook;
}

std::vector<const GangDraft*> Rehearsal::InOrder(const std::vector<GangDraft>& drafts) const {
  std::vector<const GangDraft*> order;
  for (const GangDraft& draft : drafts) order.push_back(&draft);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [now = clock_.WallMs()](const GangDraft* one) { return RankOf(*one).PriorityAt(now); });
  return order;
}

std::optional<Outlook> Rehearsal::Relimit(const observe::LimitChange& change) {
  const queue::QueueTree& tree = queues_.tree();
  std::vector<QueueId> meant;
  for (uint32_t i = 0; i < tree.end(); ++i)
    if (const QueueId id(i); tree.in_use(id) && tree.declared(id) &&
                             IsMeant(change, tree.spec(id).name, tree.spec(id).dialect))
      meant.push_back(id);
  const dialects::Dialect* of_leaf = desk_.DialectOf({"", change.queue});
  const bool is_leaf = of_leaf != nullptr && IsMeant(change, change.queue, std::string(of_leaf->name()));
  if (meant.size() + (is_leaf ? 1 : 0) != 1) return std::nullopt;
  return is_leaf ? Relimit(*desk_.Leaf({"", change.queue}), change.amounts) : Relimit(meant.front(), change.amounts);
}

Outlook Rehearsal::Relimit(QueueId queue, const Amounts& amounts) {
  const queue::QueueTree& tree = queues_.tree();
  const auto [drafts, left_out] = LineOf(book_, state_, clock_.WallMs(), [&](const Gang& gang) {
    return std::ranges::any_of(QueuesOf(gang), [&](const queue::QueueKey& key) {
      const QueueId of = tree.Find(key);
      return of.valid() && tree.IsOnPath(queue, of);
    });
  });
  for (const auto& [flavor, of] : amounts)
    if (!flavor.empty())
      return Undecided(
          drafts, {fmt::format("Queue {} has no flavors, and so none is called {}.", tree.spec(queue).name, flavor)},
          left_out);
  const Relimited relimited(queues_, waits_, queue, amounts);
  Outlook outlook = Answer(InOrder(drafts), NodeId());
  AddLeftOut(left_out, &outlook);
  return outlook;
}

Outlook Rehearsal::Relimit(model::LeafQueueSpec leaf, const Amounts& amounts) {
  const auto [drafts, left_out] = LineOf(book_, state_, clock_.WallMs(), [&](const Gang& gang) {
    return gang.quota && gang.quota->terms && !gang.quota->report.has && !gang.quota->replaced &&
           desk_.QueueName(gang) == leaf.name;
  });
  std::vector<std::string> problems;
  for (const auto& [flavor, of] : amounts)
    for (const auto& [resource, amount] : of)
      if (std::string why = SetNominal(flavor, resource, amount, &leaf); !why.empty())
        problems.push_back(std::move(why));
  if (!problems.empty()) return Undecided(drafts, std::move(problems), left_out);
  Outlook outlook = Answer(InOrder(drafts), NodeId(), leaf);
  AddLeftOut(left_out, &outlook);
  return outlook;
}

Outlook Rehearsal::Undecided(const std::vector<GangDraft>& drafts, std::vector<std::string> why,
                             int64_t left_out) const {
  Outlook outlook;
  outlook.notes = std::move(why);
  for (const GangDraft& draft : drafts) outlook.prospects.push_back(Describe(draft));
  AddLeftOut(left_out, &outlook);
  return outlook;
}

std::optional<Outlook> Rehearsal::Drain(const std::string& node) {
  const NodeId drained = state_.snapshot().FindNode(node);
  if (!drained) return std::nullopt;
  std::map<model::GangKey, GangDraft> drafts;
  int64_t daemons = 0, strangers = 0;
  for (const PodId id : state_.pods_on(drained)) {
    const cluster::PodEntry& entry = state_.pod(id);
    const model::OwnerReference* controller = entry.pod->meta.Controller();
    if (entry.reserved || entry.pod->meta.deleting()) continue;  // the latter needs no new place
    if (controller != nullptr && controller->kind == "DaemonSet") {
      ++daemons;
      continue;
    }
    if (!rankings_.Serves(entry.pod->spec->scheduler_name)) {
      ++strangers;
      continue;
    }
    const GangId of = book_.GangOf(id);
    if (!of && !book_.Settled(id)) continue;
    const model::GangKey key = of ? book_.at(of).key : book_.KeyOfSettled(id);
    GangDraft& draft = drafts[key];
    draft.key = key;
    draft.lone = !of || book_.at(of).lone;
    draft.spec.key = key;
    if (of) {
      const Gang& gang = book_.at(of);
      draft.spec.topology = gang.spec.topology;
      draft.spec.priority = gang.spec.priority;
    }
    draft.members.push_back(AnotherOf(of ? book_.Find(of, id) : nullptr, *entry.pod));
    draft.spec.min_member = std::ssize(draft.members);
  }
  std::vector<GangDraft> list;
  for (auto& [key, draft] : drafts) list.push_back(std::move(draft));
  Outlook outlook = Answer(InOrder(list), drained);
  for (Prospect& prospect : outlook.prospects)
    if (const GangId of = book_.Find(prospect.gang)) {
      Gang& gang = book_.at(of);
      prospect.breaks = BreaksWithout(drained, gang, *book_.CensusOf(gang), state_);
      if (!gang.spec.topology.empty()) prospect.notes.emplace_back(kTopologyNote);
    }
  if (daemons > 0) outlook.notes.push_back(fmt::format("Left out: {} of DaemonSets.", CountPods(daemons)));
  if (strangers > 0) outlook.notes.push_back(fmt::format("Left out: {} of other schedulers.", CountPods(strangers)));
  return outlook;
}

Outlook Rehearsal::Answer(const std::vector<const GangDraft*>& asked, NodeId drained,
                          const std::optional<model::LeafQueueSpec>& changed) {
  Outlook outlook;
  {
    Guests guests(state_, book_);
    const std::string shunned = drained ? state_.snapshot().node(drained).name : std::string();
    std::vector<GangId> ids;  // of the first of them
    int64_t pods = 0;
    for (const GangDraft* draft : asked) {
      pods += std::ssize(draft->members);
      const auto dialect = std::ranges::find(dialects_, draft->key.dialect, &dialects::Dialect::name);
      if (dialect == dialects_.end() || (!ids.empty() && pods > WaitingLine::kMostPods)) break;
      ids.push_back(guests.Add(**dialect, *draft, shunned));
    }
    state_.Reclassify();
    seeker_.CatchUp();
    Trial trial(state_, planner_.what_if(), book_, queues_, waits_, desk_, guests, ids,
                Trial::WeighsWaiting(options_, queues_), changed);
    if (drained)
      for (const PodId pod : std::vector<PodId>(state_.pods_on(drained).begin(), state_.pods_on(drained).end()))
        trial.Evict(pod);
    const int64_t searched = planner_.work();
    int64_t spent = 0;
    absl::flat_hash_set<model::ClassId> classes;
    for (size_t i = 0; i < asked.size(); ++i) {
      Prospect& prospect = outlook.prospects.emplace_back(Describe(*asked[i]));
      const int64_t looked = kWorkOfLook * trial.quota().looks();
      if (i >= ids.size() || planner_.work() - searched + spent + looked > kWorkOfQuestion) {
        prospect.notes.emplace_back(kNotLookedAt);
        continue;
      }
      const int64_t nodes = kWorkOfNode * static_cast<int64_t>(state_.snapshot().node_count());
      spent += kWorkOfGang;
      for (const Member* member : book_.at(ids[i]).members)
        if (classes.insert(state_.pod(member->pod).pod_class->id).second) spent += nodes;
      Look(ids[i], *asked[i], trial, &prospect);
      if (asked[i]->lone && prospect.verdict != Prospect::Verdict::kFits) spent += nodes;
    }
  }
  state_.Reclassify();
  return outlook;
}

Prospect Rehearsal::Describe(const GangDraft& draft) const {
  Prospect prospect;
  prospect.gang = draft.key;
  prospect.queue = draft.spec.queue;
  prospect.priority = PriorityOf(draft);
  prospect.min_member = draft.spec.min_member;
  prospect.members = std::ssize(draft.members);
  if (auto_fits_.Of(draft.spec, state_.snapshot()) != model::Fit::kNodes)
    prospect.notes.emplace_back(kUnplacedNote);
  if (!options_.extenders.empty()) prospect.notes.emplace_back(kExtenderNote);
  if (std::ranges::any_of(draft.members, [](const auto& member) { return !member.pod->claims.empty(); }))
    prospect.notes.emplace_back(kVolumeNote);
  return prospect;
}

void Rehearsal::Look(GangId id, const GangDraft& draft, Trial& trial, Prospect* prospect) {
  const Gang& gang = book_.at(id);
  const std::string problem = gang.spec.problem.empty() ? TopologyProblem(gang) : gang.spec.problem;
  std::optional<Refusal> refusal;
  if (!problem.empty()) {
    prospect->verdict = Prospect::Verdict::kNever;
    refusal = ExplainProblem(gang, problem);
  } else {
    refusal = draft.spec.quota ? PlaceWithQuota(id, draft, trial, prospect) : Place(id, trial, prospect);
  }
  std::ranges::sort(prospect->victims, {}, [](const Prospect::Victim& it) { return std::tie(it.node, it.ns, it.pod); });
  if (!refusal) return;
  prospect->why = refusal->shared_reason();
  prospect->message = refusal->words().Full();
}

std::optional<Refusal> Rehearsal::PlaceWithQuota(GangId id, const GangDraft& draft, Trial& trial, Prospect* prospect) {
  using Verdict = Prospect::Verdict;
  const Gang& gang = book_.at(id);
  model::GangAsk ask = QuotaDesk::AskOf(draft.spec);
  if (!trial.asks_line()) {
    ask.uid = gang.key.dialect;
    ask.queued_ms = clock_.WallMs();
    ask.replaces.clear();
  }
  const auto wait = [&](Verdict verdict, const std::string& why) {
    prospect->verdict = verdict;
    return ExplainQuota(gang, {observe::AwaitsQuota::Stage::kLine, desk_.QueueName(ask), why});
  };
  if (!draft.spec.quota->barred.empty()) return wait(Verdict::kWaitsForQueue, draft.spec.quota->barred);
  std::optional<Refusal> lacks;
  bool never = true;
  const auto words = [&](std::optional<Refusal> refusal) {
    if (!refusal) return std::string();
    never = never && prospect->verdict == Verdict::kNever;
    lacks = std::move(refusal);
    return lacks->words().Full();
  };
  const bool needs_nodes = auto_fits_.Of(draft.spec, state_.snapshot()) == model::Fit::kNodes;
  queue::NodeRules nodes;
  if (needs_nodes) {
    nodes.place = [&](GangId, const queue::Assignment& with) {
      trial.guests().Become(id, desk_.With(draft, with));
      return words(Place(id, trial, prospect));
    };
    nodes.would_place = [&](GangId, const queue::Assignment& with, const std::vector<queue::Victim>& gone) {
      trial.guests().Become(id, desk_.With(draft, with));
      return words(RefuseNodes(id, gone, prospect));
    };
  }
  const queue::KueueProspect::Answer answer = trial.quota().Ask(id, ask, nodes);
  if (!answer.assignment) {
    const bool by_nodes = lacks && (!never || answer.why.reason == queue::WaitReason::kTopologyPlacementFailed);
    if (!by_nodes)
      return wait(IsHopeless(answer.why.reason) ? Verdict::kNever : Verdict::kWaitsForQueue, answer.why.message);
    if (prospect->verdict != Verdict::kUndecided) prospect->verdict = never ? Verdict::kNever : Verdict::kWaitsForNodes;
    return lacks;
  }
  if (!needs_nodes || !answer.victims.empty()) {
    Evict(answer.victims, trial, prospect);
    trial.guests().Become(id, desk_.With(draft, *answer.assignment));
    lacks = Place(id, trial, prospect);
    if (lacks) return lacks;
    if (!answer.victims.empty()) prospect->verdict = Verdict::kNeedsVictims;
  }
  prospect->min_member = gang.spec.min_member;
  return std::nullopt;
}

std::optional<Refusal> Rehearsal::RefuseNodes(GangId id, const std::vector<queue::Victim>& gone, Prospect* prospect) {
  Gang& gang = book_.at(id);
  const Census census = *book_.CensusOf(gang);
  const Requirement requirement = Require(gang, census);
  const cluster::WhatIf::Scope scope(planner_.what_if());
  for (const PodId pod : desk_.PodsOf(gone))
    if (!state_.pod(pod).evicted) planner_.what_if().Evict(pod);
  PlanResult result = planner_.PlaceRequired(gang, census.pending, requirement);
  if (result.fits) return std::nullopt;
  prospect->verdict = VerdictOf(result);
  return ExplainNodes(gang, requirement, result);
}

// What is promised has no name yet, and the names of gangs are not for all.
void Rehearsal::Evict(const std::vector<queue::Victim>& victims, Trial& trial, Prospect* prospect) {
  int64_t without_pods = 0;
  for (const queue::Victim& victim : victims) {
    bool any = false;
    for (const PodId pod : desk_.PodsOf({victim})) {
      if (state_.pod(pod).promised) {
        trial.Evict(pod);
        continue;
      }
      any = true;
      Evict(pod, victim.reason != queue::VictimReason::kInClusterQueue, trial, prospect);
    }
    without_pods += any ? 0 : 1;
  }
  if (without_pods > 0)
    AddNote(fmt::format("Gangs that have no pods on nodes and would give back their quota: {}.", without_pods),
            prospect);
}

void Rehearsal::Evict(PodId pod, bool reclaim, Trial& trial, Prospect* prospect) {
  const cluster::PodEntry& entry = state_.pod(pod);
  const GangId of = book_.GangOf(pod);
  prospect->victims.push_back({entry.pod->meta.ns, entry.pod->meta.name, state_.snapshot().node(entry.node).name,
                               of ? book_.at(of).key.name : entry.pod->meta.name, reclaim});
  trial.Evict(pod);
}

std::optional<Refusal> Rehearsal::Place(GangId id, Trial& trial, Prospect* prospect) {
  using Verdict = Prospect::Verdict;
  Gang& gang = book_.at(id);
  const auto refuse = [prospect](Verdict verdict, Refusal refusal) {
    prospect->verdict = verdict;
    return refusal;
  };
  const Census census = *book_.CensusOf(gang);
  const Requirement requirement = Require(gang, census);
  const base::Millis now = clock_.MonotonicMs();
  if (const Admission admission = admission_.ToStart(gang, census, requirement); !admission.admitted()) {
    const bool beyond = IsBeyondCapability(admission);
    // No victims are sought for what the queue refuses of a lone pod.
    if (!beyond && !gang.lone && requirement.reachable() &&
        PlaceWithVictims(id, census, requirement, trial, prospect))
      return std::nullopt;
    const bool by_min_resources = admission_.IsRefusedByMinResources(gang, census, requirement, admission);
    return refuse(beyond ? Verdict::kNever : Verdict::kWaitsForQueue,
                  ExplainQueue(gang, requirement, admission, now, by_min_resources));
  }
  if (!requirement.reachable())
    return refuse(Verdict::kWaitsForMembers, ExplainMembers(gang, requirement, census, strangers_, state_));
  PlanResult result = planner_.PlaceRequired(gang, census.pending, requirement);
  if (result.fits) {
    if (std::optional<Refusal> refusal = start_.RefusePlaced(gang, census, requirement, &result)) {
      const bool by_queue = refusal->state() == dialects::GangState::kWaitingForQueue;
      return refuse(by_queue ? Verdict::kWaitsForQueue : Verdict::kWaitsForNodes, *std::move(refusal));
    }
    prospect->verdict = Verdict::kFits;
    Settle(gang, result.placements, trial, prospect);
    return std::nullopt;
  }
  const Verdict verdict = VerdictOf(result);
  if (verdict == Verdict::kWaitsForNodes && PlaceWithVictims(id, census, requirement, trial, prospect))
    return std::nullopt;
  return refuse(verdict, ExplainNodes(gang, requirement, result));
}

void Rehearsal::Settle(const Gang& gang, const std::vector<cluster::Placement>& placements, Trial& trial,
                       Prospect* prospect) {
  trial.Take(gang, placements);
  std::map<std::pair<std::string, std::string>, int64_t> places;
  for (const cluster::Placement& one : placements)
    ++places[{book_.at(one.member).role, state_.snapshot().node(one.node).name}];
  for (const auto& [at, pods] : places) prospect->places.push_back({at.first, at.second, pods});
}

VictimSeeker::Choice Rehearsal::ChooseVictims(GangId id, const Census& census, const Requirement& requirement) {
  const Gang& gang = book_.at(id);
  if (!gang.lone || requirement.min != 1 || census.pending.size() != 1)
    return seeker_.Rehearse(id, census, requirement);
  const Member& member = *census.pending.front();
  const cluster::PodEntry& entry = state_.pod(member.pod);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, entry.pod->spec->scheduler_name);
  if (!profile->preemption || state_.snapshot().node_count() == 0) return {};
  const PreemptionResult result =
      preemption_.Search({.pod = member.pod, .args = *profile->preemption, .from = 0, .shuns = nullptr},
                         rankings_.For(entry.pod_class));
  if (result.outcome == PreemptionResult::Outcome::kNoCandidate && result.spares_gangs)
    return seeker_.Rehearse(id, census, requirement);
  VictimSeeker::Choice choice;
  if (result.outcome == PreemptionResult::Outcome::kFound)
    for (const PodId pod : result.chosen.victims) choice.victims.push_back({pod, EvictionCause::kPreempt, {}});
  return choice;
}

bool Rehearsal::PlaceWithVictims(GangId id, const Census& census, const Requirement& requirement, Trial& trial,
                                 Prospect* prospect) {
  if (trial.evicts()) {
    AddNote(kVictimNote, prospect);
    return false;
  }
  const VictimSeeker::Choice choice = ChooseVictims(id, census, requirement);
  if (choice.empty()) return false;
  std::vector<std::pair<PodId, bool>> leaving;
  for (const Victim& victim : choice.victims) leaving.emplace_back(victim.pod, victim.cause == EvictionCause::kReclaim);
  for (const GangId holder : choice.holders)
    for (const Member* member : book_.at(holder).members)
      if (state_.pod(member->pod).reserved) leaving.emplace_back(member->pod, false);
  for (const auto& [pod, reclaim] : leaving) Evict(pod, reclaim, trial, prospect);
  const Gang& gang = book_.at(id);
  const PlanResult result = choice.result.placements.empty()
                                ? planner_.PlaceRequired(gang, census.pending, requirement)
                                : choice.result;
  prospect->verdict = Prospect::Verdict::kNeedsVictims;
  if (result.fits) Settle(gang, result.placements, trial, prospect);
  return true;
}

}  // namespace tutti::core
