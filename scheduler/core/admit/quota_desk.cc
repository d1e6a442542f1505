// SPDX-License-Identifier: Apache-2.0
#include "core/admit/quota_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/gangs/ended.h"
#include "core/gangs/topology.h"
#include "queue/policies/kueue/prospect.h"

namespace tutti::core {

using model::GangId;
using model::HeldQuota;

namespace {

queue::KueueRules RulesOf(const QuotaRule& rule) {
  queue::KueueRules rules;
  rules.fair_sharing = rule.fair_sharing;
  rules.strategies = rule.strategies;
  rules.old_words = rule.old_words;
  return rules;
}

// Puts down why the gang waits for more than it has; without words: it does not.
void SayWhyMore(std::string reason, std::string message, dialects::QuotaReport* report) {
  report->more_reason = std::move(reason);
  report->more_message = std::move(message);
}

// Puts down why the gang, which has nothing, waits; without words: it does not.
void SayWhy(std::string reason, std::string message, dialects::QuotaReport* report) {
  SayWhyMore({}, {}, report);
  report->reason = std::move(reason);
  report->message = std::move(message);
  report->lacks_queue = false;
}

const HeldQuota::Role* RoleIn(const HeldQuota& quota, const std::string& name) {
  const auto at = std::ranges::find(quota.roles, name, &HeldQuota::Role::name);
  return at == quota.roles.end() ? nullptr : &*at;
}

// Returns what a gang asks of its queue with what its declaration says besides.
model::GangAsk Completed(model::GangAsk ask, const model::GangSpec& declared) {
  if (ask.problem.empty()) ask.problem = declared.problem;
  for (model::RoleAsk& role : ask.roles)
    for (const model::RoleSpec& of : declared.roles)
      role.in_topology = role.in_topology || (of.name == role.name && !of.topology.empty());
  return ask;
}

// Has the gang start with so many members of the role.
void SetMinimum(const std::string& name, int64_t count, model::GangSpec* spec) {
  for (model::RoleSpec& role : spec->roles)
    if (role.name == name) spec->min_member += count - std::exchange(role.min, count);
}

std::shared_ptr<const model::Pod> WithSpec(const model::Pod& pod, model::PodSpec spec) {
  auto other = std::make_shared<model::Pod>(pod);
  other->spec = std::make_shared<const model::PodSpec>(std::move(spec));
  return other;
}

void PutLabel(const std::string& key, const std::string& value, model::StringMap* labels) {
  if (!model::Find(*labels, key))
    labels->insert(std::ranges::lower_bound(*labels, std::pair(key, value)), {key, value});
}

// What decides beside the ask which nodes will do.
std::string NodesText(const Gang& gang) {
  const model::GangSpec& declared = gang.quota->declared;
  std::string text = fmt::format("{}|{}", TopologyText(gang), static_cast<int>(declared.fit));
  for (const model::PromisedMembers& role : declared.promised)
    for (const auto& [key, value] : role.pod->meta.annotations)
      if (key.starts_with("tutti.dev/")) text += fmt::format("|{}={}", key, value);
  return text;
}

}  // namespace

QuotaDesk::QuotaDesk(const QuotaRule& rule, const cluster::ClusterState& state, GangBook& book,
                     const AutoFits& auto_fits, const base::Clock& clock)
    : state_(state), book_(book), auto_fits_(auto_fits), clock_(clock), admission_(RulesOf(rule)) {}

void QuotaDesk::Note(dialects::Dialect& dialect, const dialects::Touched& touched) {
  using Kind = Declared::Kind;
  for (const std::string& name : touched.flavors) declared_.insert({&dialect, Kind::kFlavor, "", name});
  for (const std::string& name : touched.cohorts) declared_.insert({&dialect, Kind::kCohort, "", name});
  for (const std::string& name : touched.leaves) declared_.insert({&dialect, Kind::kLeaf, "", name});
  for (const auto& [ns, name] : touched.locals) declared_.insert({&dialect, Kind::kLocal, ns, name});
}

void QuotaDesk::Note(GangId id) {
  if (book_.at(id).spec.quota || book_.at(id).quota) noted_.insert(id);
}

void QuotaDesk::Forget(GangId id) {
  noted_.erase(id);
  counts_.Forget(id);
  if (book_.at(id).quota) admission_.Forget(id, clock_.WallMs());
}

void QuotaDesk::StartTerm() {
  book_.ForEach([this](GangId id, Gang& gang) {
    if (!gang.quota) return;
    Forget(id);
    gang.spec = gang.quota->declared;
    gang.census.reset();
    gang.quota.reset();
    Note(id);
  });
}

std::vector<GangId> QuotaDesk::Renew(std::vector<GangId>* barred) {
  RenewQueues();
  std::vector<GangId> followed;
  for (const GangId id : std::exchange(noted_, {})) {
    if (Follow(id)) barred->push_back(id);
    followed.push_back(id);
  }
  return followed;
}

bool QuotaDesk::Follow(GangId id) {
  Gang& gang = book_.at(id);
  const model::MaybeShared<model::QuotaTerms> now = gang.quota ? gang.quota->declared.quota : gang.spec.quota;
  if (!now) {
    // A declaration that cannot be read any more says nothing of what the gang has.
    if (!gang.quota || !gang.quota->report.has || gang.quota->declared.problem.empty()) End(id);
    return false;
  }
  const bool first = !gang.quota || !gang.quota->terms || gang.quota->terms->ask.uid != now->ask.uid;
  if (first) {
    admission_.Forget(id, clock_.WallMs());
    model::GangSpec declared = gang.quota ? std::move(gang.quota->declared) : gang.spec;
    gang.quota.emplace().declared = std::move(declared);
  }
  GangQuota& quota = *gang.quota;
  const auto before = std::exchange(quota.terms, now);
  if (quota.replaced) {
    Adapt(id);
    return false;
  }
  const model::Fit fit = quota.fit;
  if (!quota.report.has) DecideFit(id);
  const bool given_by_others = !quota.report.has && now->has && !quota.given && !(before && before->has);
  if (now->has && (first || given_by_others))
    TakeOver(id);
  else if (!quota.report.has && (first || fit != quota.fit || before->ask != now->ask ||
                                 before->barred != now->barred || before->not_before_ms != now->not_before_ms))
    LineUp(id);
  else if (quota.report.has && before && before->ask.priority != now->ask.priority)
    admission_.SetPriority(id, now->ask.priority);
  if (quota.has() && !first && before && before->done != now->done) FreeDone(id);
  const bool barred = quota.has() && !now->barred.empty();
  if (barred) Evict(id, now->barred, now->barred);
  if (before && before->ask != now->ask && quota.report.has) AskNoMore(id);
  FollowSize(id);
  Adapt(id);
  counts_.Count(id, gang);
  return barred;
}

void QuotaDesk::FreeDone(GangId id) {
  const GangQuota& quota = *book_.at(id).quota;
  HeldQuota has = WithoutDone(*quota.report.has, quota.terms->done);
  has.priority = quota.terms->ask.priority;
  admission_.Hold(id, has, clock_.WallMs());
}

void QuotaDesk::TakeOver(GangId id) {
  GangQuota& quota = *book_.at(id).quota;
  HeldQuota has = *quota.terms->has;
  has.uid = quota.terms->ask.uid;
  if (quota.resizes()) KeepBound(id, &has);
  admission_.Hold(id, WithoutDone(has, quota.terms->done), clock_.WallMs());
  quota.report = {};
  quota.report.has = std::move(has);
  quota.taken_over = quota.admission_told = true;
  quota.ready_told = quota.terms->ready_ms > 0;
}

void QuotaDesk::KeepBound(GangId id, HeldQuota* has) const {
  const Gang& gang = book_.at(id);
  for (const model::RoleAsk& role : gang.quota->terms->ask.roles) {
    const auto of = std::ranges::find(has->roles, role.name, &HeldQuota::Role::name);
    if (of == has->roles.end()) continue;
    const int64_t bound = std::ranges::count_if(gang.members, [&](const Member* member) {
      const model::Pod& pod = *state_.pod(member->pod).pod;
      return !member->promised && member->role == role.name && pod.bound() && !pod.done();
    });
    const int64_t count = std::min(role.count, bound) + DoneIn(*gang.quota->terms, role.name);
    if (count > of->count) Resize(count, &*of);
  }
}

void QuotaDesk::LineUp(GangId id) {
  GangQuota& quota = *book_.at(id).quota;
  quota.expected.reset();
  if (!quota.terms->barred.empty()) {
    admission_.Forget(id, clock_.WallMs());
    return SayWhy(quota.terms->barred, quota.terms->barred, &quota.report);
  }
  if (quota.terms->not_before_ms > clock_.WallMs()) {
    admission_.Forget(id, clock_.WallMs());
    return SayWhy(queue::WordOf(queue::WaitReason::kPendingEvaluation), {}, &quota.report);
  }
  Queue(id);
}

void QuotaDesk::Queue(GangId id) {
  const Gang& gang = book_.at(id);
  admission_.Wait(id, Completed(gang.quota->terms->ask, gang.quota->declared), NodesText(gang));
  Explain(id);
}

void QuotaDesk::FollowSize(GangId id) {
  GangQuota& quota = *book_.at(id).quota;
  if (!quota.resizes() || !quota.has()) return;
  bool more = false, fewer = false;
  HeldQuota has = *quota.report.has;
  for (const model::RoleAsk& role : quota.terms->ask.roles) {
    const auto of = std::ranges::find(has.roles, role.name, &HeldQuota::Role::name);
    if (of == has.roles.end()) continue;
    const int64_t count = role.count + DoneIn(*quota.terms, role.name);
    more = more || count > of->count;
    fewer = fewer || count < of->count;
    Resize(count, &*of);
  }
  if (more) {
    if (book_.at(id).whole && !admission_.waits(id)) Queue(id);
    return;
  }
  AskNoMore(id);
  if (fewer) {
    quota.report.has = std::move(has);
    FreeDone(id);
    Adapt(id);
  }
  counts_.Count(id, book_.at(id));
}

void QuotaDesk::AskNoMore(GangId id) {
  admission_.StopWaiting(id);
  SayWhyMore({}, {}, &book_.at(id).quota->report);
  ExpectNothing(id);
}

void QuotaDesk::ExpectNothing(GangId id) {
  if (std::exchange(book_.at(id).quota->expected, std::nullopt)) Adapt(id);
}

void QuotaDesk::End(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.quota || !gang.quota->terms) return;
  admission_.Forget(id, clock_.WallMs());
  GangQuota& quota = *gang.quota;
  if (quota.report.has) quota.last = quota.report.has;
  quota.report.has.reset();
  SayWhy({}, {}, &quota.report);
  quota.terms = nullptr;
  quota.expected.reset();
  quota.placed = false;
  gang.spec = quota.declared;
  gang.census.reset();
  counts_.Forget(id);
}

void QuotaDesk::Explain(GangId id) {
  if (!admission_.waits(id)) return;
  const queue::WaitExplanation why = admission_.Explain(id);
  dialects::QuotaReport& report = book_.at(id).quota->report;
  if (why.reason != queue::WaitReason::kWaitingForPreemptedWorkloads) ExpectNothing(id);
  if (report.has) {
    SayWhyMore(queue::WordOf(why.reason), why.message, &report);
    return counts_.Count(id, book_.at(id));
  }
  SayWhy(queue::WordOf(why.reason), why.message, &report);
  report.lacks_queue = why.reason == queue::WaitReason::kNoQueue || why.reason == queue::WaitReason::kSuspended;
}

std::string QuotaDesk::WhyItWaits(GangId id) const {
  const std::string& why = book_.at(id).quota->report.message;
  return why.empty() && admission_.GoesBehind(id) ? "its line is strict, and others come first" : why;
}

queue::PassResult QuotaDesk::Run(queue::NodeRules nodes) {
  admission_.SetNodes(std::move(nodes));
  queue::PassResult result = admission_.Run(clock_.WallMs());
  admission_.SetNodes({});
  for (const auto& admitted : result.admitted) PutDown(admitted);
  for (const auto& evicted : result.evicted) PutDown(evicted);
  for (const GangId id : result.refused) Explain(id);
  return result;
}

void QuotaDesk::PutDown(const queue::PassResult::Admitted& admitted) {
  GangQuota& quota = *book_.at(admitted.gang).quota;
  const int64_t evictions = quota.report.evictions;
  quota.report = {};
  quota.report.evictions = evictions;
  quota.before_trial.reset();
  quota.report.has = Held(book_.at(admitted.gang), admitted.leaf, admitted.assignment.roles);
  quota.report.has->reserved_ms = admitted.reserved_ms;
  quota.given = true;
  const bool replaces_itself = admitted.replaces == admitted.gang;
  if (!replaces_itself) quota.taken_over = quota.admission_told = false;
  quota.expected.reset();
  Adapt(admitted.gang);
  counts_.Count(admitted.gang, book_.at(admitted.gang));
  if (!admitted.replaces.valid() || replaces_itself) return;
  GangQuota& replaced = *book_.at(admitted.replaces).quota;
  replaced.last = replaced.report.has;
  replaced.report.has.reset();
  replaced.replaced = true;
  replaced.report.reason = queue::kReplaced;
  replaced.report.by_uid = quota.terms->ask.uid;
  Adapt(admitted.replaces);
  counts_.Forget(admitted.replaces);
}

void QuotaDesk::PutDown(const queue::PassResult::Evicted& evicted) {
  if (!evicted.by.valid()) {
    auto [reason, message] = admission_.WhyDrained(evicted.gang);
    return Evict(evicted.gang, std::move(reason), std::move(message));
  }
  const model::GangAsk& by = book_.at(evicted.by).quota->terms->ask;
  const queue::Holding& holding = *admission_.holding(evicted.gang);
  const queue::QueueId leaf = admission_.shares().Leaf(QueueName(book_.at(evicted.by)));
  const std::string to = leaf.valid() ? admission_.shares().Path(leaf) : std::string();
  Evict(evicted.gang, queue::WordOf(evicted.reason),
        admission_.rules().old_words ? queue::OldPreemptedMessage(by.line_uid, evicted.reason)
                                     : queue::PreemptedMessage(by.line_uid, by.job_uid, evicted.reason, to,
                                                               admission_.shares().Path(holding.leaf)));
  book_.at(evicted.gang).quota->report.by_uid = by.uid;
}

void QuotaDesk::LineUpIfDue(GangId id) {
  const GangQuota& quota = *book_.at(id).quota;
  const bool due = quota.terms && !quota.report.has && quota.terms->barred.empty() && !admission_.waits(id) &&
                   quota.terms->not_before_ms <= clock_.WallMs();
  if (due) LineUp(id);
}

void QuotaDesk::Retry(GangId id) { admission_.Retry(id); }

void QuotaDesk::Evict(GangId id, std::string reason, std::string message) {
  admission_.Evict(id);
  dialects::QuotaReport& report = book_.at(id).quota->report;
  report.has->evicted = true;
  report.evicted_reason = std::move(reason);
  report.evicted_message = std::move(message);
  report.by_uid.clear();
  SayWhyMore({}, {}, &report);
  ++report.evictions;
  ExpectNothing(id);
}

void QuotaDesk::Release(GangId id) {
  GangQuota& quota = *book_.at(id).quota;
  admission_.Forget(id, clock_.WallMs());
  quota.report.has.reset();
  quota.placed = quota.taken_over = quota.admission_told = false;
  quota.given = true;  // what its object still says of it is of what it had
  Adapt(id);
  LineUp(id);
  counts_.Count(id, book_.at(id));
}

void QuotaDesk::SetPlaced(GangId id, bool placed) {
  GangQuota& quota = *book_.at(id).quota;
  if (std::exchange(quota.placed, placed) != placed) counts_.Count(id, book_.at(id));
}

void QuotaDesk::DecideFit(GangId id) {
  GangQuota& quota = *book_.at(id).quota;
  quota.fit = auto_fits_.Of(quota.declared, state_.snapshot());
}

std::map<std::string, std::vector<HeldQuota::Place>> QuotaDesk::TakePlaces(GangId id) {
  std::map<std::string, std::vector<HeldQuota::Place>> places;
  for (HeldQuota::Role& role : book_.at(id).quota->report.has->roles)
    if (!role.places.empty()) places[role.name] = std::exchange(role.places, {});
  return places;
}

void QuotaDesk::Try(GangId id, const queue::Assignment& assignment) {
  Gang& gang = book_.at(id);
  gang.quota->is_trial = true;
  gang.quota->before_trial = gang.quota->report.has;
  gang.quota->report.has = Held(gang, QueueName(gang), assignment.roles);
  Adapt(id);
}

void QuotaDesk::Expect(GangId id, const queue::Assignment& assignment) {
  Gang& gang = book_.at(id);
  gang.quota->expected = Held(gang, QueueName(gang), assignment.roles);
  Adapt(id);
}

void QuotaDesk::EndTry(GangId id, bool keeps) {
  GangQuota& quota = *book_.at(id).quota;
  quota.is_trial = false;
  if (keeps) return;
  quota.report.has = std::exchange(quota.before_trial, std::nullopt);
  Adapt(id);
}

HeldQuota QuotaDesk::Held(const Gang& gang, const std::string& leaf,
                          const std::vector<queue::RoleAssignment>& roles) const {
  const model::GangAsk& ask = gang.quota->terms->ask;
  HeldQuota held;
  held.uid = ask.uid;
  held.ns = ask.ns;
  held.local_queue = ask.local_queue;
  held.leaf = leaf;
  held.priority = ask.priority;
  held.queued_ms = ask.queued_ms;
  held.reserved_ms = clock_.WallMs();
  for (const queue::RoleAssignment& role : roles) {
    HeldQuota::Role& as = held.roles.emplace_back(HeldQuota::Role{role.name, role.count, {}, {}});
    for (const auto& [resource, pick] : role.picks) {
      as.flavors[resource] = pick.flavor;
      as.requests.Set(resource, role.requests.Get(resource));
    }
    // It did not ask for those that have ended; they are members nonetheless.
    if (const int64_t done = DoneIn(*gang.quota->terms, role.name); done > 0) Resize(role.count + done, &as);
  }
  return held;
}

void QuotaDesk::Adapt(GangId id) {
  Gang& gang = book_.at(id);
  GangQuota& quota = *gang.quota;
  const std::optional<HeldQuota>& has = quota.report.has ? quota.report.has : quota.expected;
  const std::optional<HeldQuota>& placed = quota.expected && !quota.is_trial ? quota.expected : has;
  model::GangSpec spec = quota.declared;
  spec.promised.clear();
  const bool places = has && quota.terms && (!quota.report.has || quota.leaves() || quota.seeks_nodes());
  for (const model::PromisedMembers& declared : quota.declared.promised)
    if (const HeldQuota::Role* role = placed && places ? RoleIn(*placed, declared.role) : nullptr)
      spec.promised.push_back(Flavored(quota, declared, *role));
    else if (places)
      spec.promised.push_back(declared);
  if (has)
    for (const HeldQuota::Role& role : has->roles) SetMinimum(role.name, role.count, &spec);
  if (spec == gang.spec) return;
  gang.spec = std::move(spec);
  gang.census.reset();
}

model::PodSpec QuotaDesk::Flavored(const model::PodSpec& declared,
                                   const std::map<std::string, std::string>& flavors) const {
  model::PodSpec spec = declared;
  std::set<std::string_view> done;
  for (const auto& [resource, name] : flavors) {
    const auto flavor = admission_.flavors().find(name);
    if (flavor == admission_.flavors().end() || !done.insert(name).second) continue;
    for (const auto& [key, value] : flavor->second.labels) PutLabel(key, value, &spec.node_selector);
    for (const model::Toleration& toleration : flavor->second.tolerations)
      if (std::ranges::find(spec.tolerations, toleration) == spec.tolerations.end())
        spec.tolerations.push_back(toleration);
  }
  return spec;
}

model::PromisedMembers QuotaDesk::Flavored(GangQuota& quota, const model::PromisedMembers& declared,
                                           const HeldQuota::Role& role) const {
  model::PromisedMembers promised = declared;
  promised.count = std::min(promised.count, role.count);
  model::PodSpec spec = Flavored(*declared.pod->spec, role.flavors);
  if (spec == *declared.pod->spec) return promised;
  auto& [from, pod] = quota.pods[declared.role];
  if (from != declared.pod || *pod->spec != spec) {
    from = declared.pod;
    pod = WithSpec(*declared.pod, std::move(spec));
  }
  promised.pod = pod;
  return promised;
}

queue::KueueProspect QuotaDesk::Ask(const std::optional<model::LeafQueueSpec>& changed) {
  return queue::KueueProspect(admission_, changed);
}

model::GangAsk QuotaDesk::AskOf(const model::GangSpec& declared) { return Completed(declared.quota->ask, declared); }

model::GangDraft QuotaDesk::With(model::GangDraft draft, const queue::Assignment& assignment) const {
  for (const queue::RoleAssignment& role : assignment.roles) {
    SetMinimum(role.name, role.count, &draft.spec);
    std::map<std::string, std::string> flavors;
    for (const auto& [resource, pick] : role.picks) flavors[resource] = pick.flavor;
    std::map<const model::Pod*, std::shared_ptr<const model::Pod>> flavored;  // many members are of one pod
    for (model::GangDraft::Member& member : draft.members) {
      if (member.role != role.name) continue;
      std::shared_ptr<const model::Pod>& pod = flavored[member.pod.get()];
      if (!pod) pod = WithSpec(*member.pod, Flavored(*member.pod->spec, flavors));
      member.pod = pod;
    }
  }
  return draft;
}

std::vector<model::PodId> QuotaDesk::PodsOf(const std::vector<queue::Victim>& victims) const {
  std::vector<model::PodId> pods;
  for (const queue::Victim& victim : victims)
    for (const Member* member : book_.at(victim.gang).members)
      if (const cluster::PodEntry& entry = state_.pod(member->pod); entry.node && !entry.evicted)
        pods.push_back(member->pod);
  return pods;
}

std::string QuotaDesk::QueueName(const Gang& gang) const {
  const GangQuota& quota = *gang.quota;
  if (quota.report.has) return quota.report.has->leaf;
  if (!quota.terms) return quota.last ? quota.last->leaf : std::string();
  return QueueName(quota.terms->ask);
}

std::string QuotaDesk::QueueName(const model::GangAsk& ask) const {
  const model::LocalQueueSpec* local = admission_.local(ask.ns, ask.local_queue);
  return local ? local->queue : ask.local_queue;
}

dialects::Dialect* QuotaDesk::DialectOf(const QuotaCounts::QueueName& queue) const {
  const auto at = dialect_of_.find(queue);
  return at == dialect_of_.end() ? nullptr : at->second;
}

}  // namespace tutti::core
