// SPDX-License-Identifier: Apache-2.0
#include "core/publish/describe.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "core/gangs/draft.h"
#include "core/gangs/evidence.h"
#include "core/publish/explain.h"

namespace tutti::core {

using dialects::GangState;
using model::GangId;

namespace {

// The narrowest level: the node's name tells all wider ones.
constexpr std::string_view kHostname = "kubernetes.io/hostname";

// Claims of placed members that wait for their volumes.
int64_t OpenVolumes(const Gang& gang) {
  int64_t open = 0;
  if (gang.plan)
    for (const auto& [member, assignment] : gang.plan->open) open += std::ssize(assignment.volumes);
  return open;
}

// The changes after `sequence` that can be told before more than `most` members are described: at least one.
std::optional<observe::Journal::Changes> Affordable(const observe::Journal& journal, const GangBook& book,
                                                    uint64_t sequence, size_t most) {
  std::optional<observe::Journal::Changes> changes = journal.After(sequence, most);
  for (size_t told = changes ? changes->sequence - sequence : 0; told > 1;) {
    size_t members = 0;
    for (const model::GangKey& key : changes->gangs)
      if (const GangId id = book.Find(key)) members += book.at(id).members.size();
    if (members <= most) break;
    told /= 2;
    changes = journal.After(sequence, told);
  }
  return changes;
}

observe::MemberDecision DescribeMember(const model::Pod& pod) {
  observe::MemberDecision line;
  line.ns = pod.meta.ns;
  line.name = pod.meta.name;
  line.uid = pod.meta.uid;
  line.node = pod.node_name;
  line.bound = pod.bound();
  line.finished = pod.done();
  line.spec = pod.spec;
  return line;
}

// The same of a member of the gang, with what its plan and its condition say.
observe::MemberDecision DescribeMemberOf(const Gang& gang, const Member& member, const model::Pod& pod) {
  observe::MemberDecision line = DescribeMember(pod);
  line.role = member.role;
  line.promised = member.promised;
  if (member.promised) line.uid.clear();
  if (gang.plan && !line.bound)
    if (const auto open = gang.plan->open.find(member.id); open != gang.plan->open.end()) {
      line.node = open->second.node;
      line.bound = open->second.stage == Assignment::Stage::kBound;
    }
  if (!line.bound && !line.finished) {
    line.reason = member.condition_note.reason;
    line.message = member.condition_note.message;
  }
  return line;
}

}  // namespace

bool Describer::Add(observe::DecisionsPlace* place, std::deque<observe::Decision>* records) const {
  constexpr size_t kMembers = 256, kPlaces = 65'536;
  size_t members = 0, places = 0;
  const auto go_on = [&] { return members < kMembers && ++places < kPlaces; };
  for (; place->gang < book_.slots() && go_on(); ++place->gang)
    if (const Gang& gang = book_.at(GangId(place->gang)); gang.dialect) {
      records->push_back(Describe(gang));
      members += 1 + gang.members.size();
    }
  if (place->gang < book_.slots()) return false;
  for (; place->pod < state_.pod_slots() && go_on(); ++place->pod)
    if (const model::PodId pod(place->pod); book_.Settled(pod)) {
      records->push_back(DescribeSettled(pod));
      ++members;
    }
  return place->pod >= state_.pod_slots();
}

std::optional<observe::DecisionChanges> Describer::After(uint64_t sequence, size_t most) const {
  std::optional<observe::Journal::Changes> touched = Affordable(journal_, book_, sequence, most);
  if (!touched) return std::nullopt;
  observe::DecisionChanges changes;
  changes.sequence = touched->sequence;
  for (model::GangKey& key : touched->gangs) {
    if (const GangId id = book_.Find(key))
      changes.decisions.push_back(Describe(book_.at(id)));
    else if (const model::PodId pod = book_.FindSettled(key))
      changes.decisions.push_back(DescribeSettled(pod));
    else
      changes.gone.push_back(std::move(key));
  }
  return changes;
}

observe::Decision Describer::Describe(const Gang& gang) const {
  ++made_;
  observe::Decision decision;
  decision.gang = gang.key;
  decision.queue = gang.spec.quota ? gang.spec.quota->ask.local_queue : gang.spec.queue;
  if (gang.quota) decision.quota = DescribeQuota(gang);
  if (decision.quota)
    decision.queue_dialect = DialectOf(decision.quota->leaf);
  else if (!decision.queue.empty())
    decision.queue_dialect = QueueOf(gang).dialect;
  decision.scheduler_name = book_.SchedulerName(gang);
  decision.priority = book_.Priority(gang);
  decision.priority_slope = gang.spec.priority_slope;
  decision.min_member = gang.spec.min_member;
  decision.state = gang.state;
  decision.since_ms = gang.since_ms;
  decision.created_ms = book_.Created(gang);
  decision.plan = gang.plan ? gang.plan->id : gang.last_plan;
  const int64_t open_volumes = OpenVolumes(gang);
  if (gang.refusal)
    decision.why = gang.refusal->shared_reason();
  else if (gang.plan && gang.plan->awaits_pods())
    decision.why = ExplainAwaitedPods(gang, book_).shared_reason();
  else if (open_volumes > 0)
    decision.why = std::make_shared<const observe::Reason>(
        observe::Reason{.ns = gang.key.ns, .gang = gang.key.name, .cause = observe::PreparingVolumes{open_volumes}});
  decision.reason = gang.state == GangState::kTerminating ? "Terminating"
                    : gang.refusal                        ? observe::Word(*decision.why)
                    : gang.state == GangState::kWhole     ? "Whole"
                    : gang.state == GangState::kFinished  ? "Finished"
                    : gang.state == GangState::kAdmitted  ? "Admitted"
                    : decision.why                        ? observe::Word(*decision.why)
                                                          : "Binding";
  if (gang.refusal)
    decision.message = gang.refusal->words().Full();
  else if (decision.why)
    decision.message = observe::Say(*decision.why).Full();
  const auto meta_of = [&](const Member* member) -> const model::ObjectMeta& {
    return state_.pod(member->pod).pod->meta;
  };
  std::vector<const Member*> members(gang.members.begin(), gang.members.end());
  std::ranges::sort(members, {}, [&](const Member* m) { return std::tie(meta_of(m).ns, meta_of(m).name); });
  decision.members.reserve(members.size());
  for (const Member* member : members)
    decision.members.push_back(DescribeMemberOf(gang, *member, *state_.pod(member->pod).pod));
  return decision;
}

std::shared_ptr<const observe::QuotaDecision> Describer::DescribeQuota(const Gang& gang) const {
  using State = observe::QuotaDecision::State;
  const GangQuota& quota = *gang.quota;
  auto decision = std::make_shared<observe::QuotaDecision>();
  const bool over = !quota.terms || quota.replaced;
  if (quota.terms) decision->local_queue = quota.terms->ask.local_queue;
  decision->leaf = quota_.QueueName(gang);
  decision->state = over               ? State::kFinished
                    : quota.leaves()   ? State::kEvicted
                    : IsAdmitted(gang) ? State::kAdmitted
                    : quota.report.has ? State::kReserved
                                       : State::kPending;
  decision->reason = quota.leaves() ? quota.report.evicted_reason : quota.report.reason;
  decision->message = quota.leaves() ? quota.report.evicted_message : quota.report.message;
  if (decision->state == State::kPending && quota.terms->barred.empty())
    decision->queued_ms = quota.terms->ask.queued_ms;
  const std::optional<model::HeldQuota>& has = quota.report.has ? quota.report.has : quota.last;
  if (!has) return decision;
  for (const model::HeldQuota::Role& role : has->roles)
    decision->roles.push_back({role.name, role.count, role.flavors, DomainsOf(gang, role)});
  return decision;
}

std::string Describer::DialectOf(const std::string& leaf) const {
  const dialects::Dialect* dialect = quota_.DialectOf({"", leaf});
  return dialect ? std::string(dialect->name()) : std::string();
}

std::map<std::string, int64_t> Describer::DomainsOf(const Gang& gang, const model::HeldQuota::Role& role) const {
  std::map<std::string, int64_t> domains;
  std::vector<std::string> levels = quota_.LevelsOf(role);
  if (levels.empty()) return domains;
  if (levels.back() == kHostname) levels.assign(1, std::string(kHostname));
  for (const Member* member : gang.members) {
    const cluster::PodEntry& entry = state_.pod(member->pod);
    if (member->role != role.name || !entry.node) continue;
    std::string domain;
    for (const std::string& level : levels) {
      const std::string* value = model::Find(state_.snapshot().node(entry.node).node->meta.labels, level);
      domain += (domain.empty() ? "" : "/") + (value ? *value : std::string());
    }
    ++domains[domain];
  }
  return domains;
}

observe::Decision Describer::DescribeSettled(model::PodId id) const {
  ++made_;
  const model::Pod& pod = *state_.pod(id).pod;
  observe::Decision decision;
  decision.gang = book_.KeyOfSettled(id);
  decision.scheduler_name = pod.spec->scheduler_name;
  decision.priority = pod.spec->priority;
  decision.state = pod.done() ? GangState::kFinished : GangState::kWhole;
  decision.reason = pod.done() ? "Finished" : "Whole";
  decision.since_ms = book_.SettledSince(id);
  decision.created_ms = pod.meta.created_ms;
  if (const auto evidence = ReadEvidence(pod)) decision.plan = evidence->plan;
  decision.members.push_back(DescribeMember(pod));
  return decision;
}

std::vector<model::GangDraft> Describer::Drafts() const {
  std::vector<model::GangDraft> drafts;
  book_.ForEach([&](GangId, const Gang& gang) { drafts.push_back(DraftOf(gang, state_)); });
  return drafts;
}

}  // namespace tutti::core
