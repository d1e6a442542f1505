// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "queue/policies/kueue/cycle.h"

namespace tutti::queue {
namespace {

std::string LocalName(const std::string& ns, const std::string& name) { return ns + "/" + name; }

model::ResourceList RequestsOf(const std::vector<RoleAssignment>& roles) {
  model::ResourceList all;
  for (const RoleAssignment& role : roles) all.AddAll(role.requests);
  return all;
}

}  // namespace

KueueAdmission::KueueAdmission(KueueRules rules)
    : rules_(std::move(rules)),
      usage_(rules_.local_usage),
      arena_{shares_, ledger_, holdings_, [this](const std::string& local) { return usage_.Of(local, now_); }} {}

void KueueAdmission::Declared() {
  displaced_.Clear();
  ++nodes_epoch_;
  touched_.merge(lines_.WakeAll());
}

void KueueAdmission::Put(model::Flavor flavor) {
  if (const auto at = flavors_.find(flavor.name); at != flavors_.end() && at->second == flavor) return;
  std::string name = flavor.name;
  flavors_.insert_or_assign(std::move(name), std::move(flavor));
  Declared();
}

void KueueAdmission::DropFlavor(const std::string& name) {
  flavors_.erase(name);
  Declared();
}

void KueueAdmission::Put(model::CohortSpec cohort) {
  const auto [at, first] = cohorts_.try_emplace(cohort.name, cohort);
  if (!first && at->second == cohort) return;
  at->second = cohort;
  shares_.Put(std::move(cohort));
  Declared();
}

void KueueAdmission::DropCohort(const std::string& name) {
  cohorts_.erase(name);
  shares_.DropCohort(name);
  Declared();
}

void KueueAdmission::Put(model::LeafQueueSpec leaf) {
  if (const QueueId id = shares_.Leaf(leaf.name); id.valid() && shares_.leaf(id) == leaf) return;
  const std::string name = leaf.name;
  const bool drain = leaf.stop == model::StopPolicy::kHoldAndDrain;
  shares_.Put(std::move(leaf));
  if (drain) Drain(shares_.Leaf(name), {});
  RerouteTo(name);
  Declared();
}

void KueueAdmission::DropLeaf(const std::string& name) {
  shares_.DropLeaf(name);
  RerouteTo(name);
  Declared();
}

void KueueAdmission::Put(model::LocalQueueSpec spec, bool admits) {
  const std::string name = LocalName(spec.ns, spec.name);
  if (const auto at = locals_.find(name); at != locals_.end() && at->second.spec == spec && at->second.admits == admits)
    return;
  usage_.SetWeight(name, spec.weight);
  if (spec.stop == model::StopPolicy::kHoldAndDrain) Drain(shares_.Leaf(spec.queue), name);
  locals_.insert_or_assign(name, Local{std::move(spec), admits});
  Reroute(name);
}

void KueueAdmission::DropLocal(const std::string& ns, const std::string& queue) {
  const std::string name = LocalName(ns, queue);
  locals_.erase(name);
  usage_.Drop(name);
  Reroute(name);
}

void KueueAdmission::Drain(QueueId leaf, const std::string& local) {
  if (!leaf.valid()) return;
  for (const Holdings::Rank& rank : holdings_.Of(leaf))
    if (local.empty() || rank.holding->local == local) draining_.insert(rank.holding->gang);
}

void KueueAdmission::RerouteTo(const std::string& leaf) {
  for (const auto& [name, local] : locals_)
    if (local.spec.queue == leaf) Reroute(name);
}

void KueueAdmission::Reroute(const std::string& local) {
  const auto gangs = by_local_.find(local);
  if (gangs == by_local_.end()) return;
  for (const model::GangId gang : gangs->second) {
    Waiting& waiting = waiting_.at(gang);
    const WaitExplanation before = waiting.why;
    Leave(gang, waiting);
    Enter(gang, waiting);
    if (waiting.why != before || (waiting.leaf.valid() && !IsActive(waiting.leaf))) rerouted_.insert(gang);
  }
}

std::optional<WaitExplanation> KueueAdmission::WhyBarred(const model::GangAsk& ask) const {
  const auto local = locals_.find(LocalName(ask.ns, ask.local_queue));
  if (local == locals_.end())
    return WaitExplanation{WaitReason::kNoQueue, fmt::format("LocalQueue {} doesn't exist", ask.local_queue)};
  const model::LocalQueueSpec& spec = local->second.spec;
  if (spec.stop != model::StopPolicy::kNone)
    return WaitExplanation{WaitReason::kSuspended, fmt::format("LocalQueue {} is inactive", ask.local_queue)};
  if (!shares_.Leaf(spec.queue).valid())
    return WaitExplanation{WaitReason::kNoQueue, fmt::format("ClusterQueue {} doesn't exist", spec.queue)};
  if (!local->second.admits)
    return WaitExplanation{WaitReason::kMisconfigured, "Workload namespace doesn't match ClusterQueue selector"};
  return std::nullopt;
}

void KueueAdmission::Enter(model::GangId gang, Waiting& waiting) {
  const model::GangAsk& ask = waiting.ask;
  if (auto barred = WhyBarred(ask)) {
    waiting.why = *std::move(barred);
    return;
  }
  const QueueId leaf = shares_.HoldLeaf(locals_.at(waiting.local).spec.queue);
  waiting.why = {};
  waiting.leaf = leaf;
  Touch(leaf);
  // A gang that spares others may be refused, while a gang with the same ask is not.
  std::string shape = ShapeOf(ask) + waiting.nodes + (Spares(ask, leaf) ? ask.uid : std::string());
  lines_.Put(gang, leaf, {ask.priority, ask.queued_ms, ask.uid}, std::move(shape), waiting.local,
             shares_.leaf(leaf).by_local_usage);
}

void KueueAdmission::Leave(model::GangId gang, Waiting& waiting) {
  if (!waiting.leaf.valid()) return;
  // Those like it are not told when there are nodes: one of them has to see what it lacks.
  if (waiting.lacks_nodes) lines_.Return(gang);
  lines_.Erase(gang);
  shares_.ReleaseLeaf(std::exchange(waiting.leaf, {}));
  waiting.progress.clear();
  waiting.no_nodes.clear();
  waiting.lacks_nodes = false;
}

void KueueAdmission::Wait(model::GangId gang, model::GangAsk ask, std::string nodes) {
  const Holding* has = holdings_.Find(gang);
  TUTTI_CHECK(!has || (ask.replaces == has->uid && !has->evicted), "a gang that has quota waits for more alone");
  if (const auto at = waiting_.find(gang);
      at != waiting_.end() && at->second.leaf.valid() && at->second.ask.priority != ask.priority)
    Changed(at->second.leaf);
  StopWaiting(gang);
  Waiting& waiting = waiting_[gang];
  waiting.local = LocalName(ask.ns, ask.local_queue);
  waiting.ask = std::move(ask);
  waiting.nodes = std::move(nodes);
  by_local_[waiting.local].insert(gang);
  Enter(gang, waiting);
}

void KueueAdmission::Hold(model::GangId gang, const HeldQuota& quota, base::Millis now) {
  Forget(gang, now);
  Holding holding{gang,
                  quota.uid,
                  LocalName(quota.ns, quota.local_queue),
                  shares_.HoldLeaf(quota.leaf),
                  quota.priority,
                  quota.queued_ms,
                  quota.reserved_ms,
                  quota.evicted,
                  false,
                  {},
                  {}};
  CellAmounts used;
  std::vector<CellId> held;
  for (const HeldQuota::Role& role : quota.roles) {
    RoleAssignment& assigned = holding.roles.emplace_back();
    assigned.name = role.name;
    assigned.count = role.count;
    assigned.requests = role.requests;
    for (const auto& [resource, flavor] : role.flavors) {
      held.push_back(shares_.cells().Hold(flavor, resource));
      assigned.picks[resource] = {flavor, held.back()};
      AddTo(used, held.back(), role.requests.Get(resource));
    }
  }
  holding.used = Ask(shares_.cells(), used);
  for (const CellId cell : held) shares_.cells().Release(cell);
  usage_.Take(holding.local, RequestsOf(holding.roles), now);
  const QueueId leaf = holding.leaf;
  Touch(leaf);
  Changed(leaf);
  const auto local = locals_.find(holding.local);
  const bool drains = (shares_.is_leaf(leaf) && shares_.leaf(leaf).stop == model::StopPolicy::kHoldAndDrain) ||
                      (local != locals_.end() && local->second.spec.stop == model::StopPolicy::kHoldAndDrain);
  if (drains) draining_.insert(gang);
  holdings_.Put(std::move(holding));
  shares_.ReleaseLeaf(leaf);
}

void KueueAdmission::SetPriority(model::GangId gang, int32_t priority) {
  Changed(holdings_.Find(gang)->leaf);
  holdings_.SetPriority(gang, priority);
}

std::set<std::string> KueueAdmission::SparedBy(const std::string& uid, QueueId leaf, int32_t priority) const {
  return displaced_.Before(shares_.Root(leaf), uid, leaf, priority);
}

void KueueAdmission::RetryAll(const std::set<model::GangId>& gangs) {
  for (const model::GangId gang : gangs) Retry(gang);
}

void KueueAdmission::Retry(model::GangId gang) {
  const auto at = waiting_.find(gang);
  if (at == waiting_.end() || !at->second.leaf.valid()) return;
  at->second.lacks_nodes = false;
  at->second.progress.clear();
  at->second.no_nodes.clear();
  lines_.Return(gang);
  Touch(at->second.leaf);
}

const model::LocalQueueSpec* KueueAdmission::local(const std::string& ns, const std::string& name) const {
  const auto at = locals_.find(LocalName(ns, name));
  return at == locals_.end() ? nullptr : &at->second.spec;
}

void KueueAdmission::ReleaseQuota(model::GangId gang, base::Millis now) {
  const Holding* holding = holdings_.Find(gang);
  if (!holding) return;
  usage_.Return(holding->local, RequestsOf(holding->roles), now);
  std::vector<CellId> cells;
  for (const auto& [cell, amount] : holding->used) cells.push_back(cell);
  const QueueId root = shares_.Root(holding->leaf);
  Touch(holding->leaf);
  ++nodes_epoch_;
  lines_.Wake(cells, [&](QueueId leaf) { return shares_.Root(leaf) == root; });
  draining_.erase(gang);
  holdings_.Release(gang);
}

void KueueAdmission::Forget(model::GangId gang, base::Millis now) {
  now_ = std::max(now_, now);
  const Holding* has = holdings_.Find(gang);
  if (has && !has->for_another) Changed(has->leaf);
  ReleaseQuota(gang, now);
  StopWaiting(gang);
}

void KueueAdmission::Evict(model::GangId gang, bool for_another) {
  StopWaiting(gang);
  holdings_.MarkEvicted(gang, for_another);
}

void KueueAdmission::StopWaiting(model::GangId gang) {
  const auto at = waiting_.find(gang);
  if (at == waiting_.end()) return;
  if (at->second.leaf.valid()) Touch(at->second.leaf);  // it may have been the first, and another one is now
  Leave(gang, at->second);
  const auto others = by_local_.find(at->second.local);
  others->second.erase(gang);
  if (others->second.empty()) by_local_.erase(others);
  waiting_.erase(at);
}

bool KueueAdmission::IsActive(QueueId leaf) const {
  if (!shares_.is_leaf(leaf)) return false;
  const model::LeafQueueSpec& spec = shares_.leaf(leaf);
  if (spec.stop != model::StopPolicy::kNone || shares_.HasCircle(leaf)) return false;
  return std::ranges::all_of(spec.groups, [this](const model::ResourceGroup& group) {
    return std::ranges::all_of(group.flavors, [this](const auto& flavor) { return flavors_.contains(flavor.flavor); });
  });
}

WaitExplanation KueueAdmission::WhyInactive(QueueId leaf) const {
  return {WaitReason::kSuspended, fmt::format("ClusterQueue {} is inactive", shares_.name(leaf))};
}

std::pair<std::string, std::string> KueueAdmission::WhyDrained(model::GangId gang) const {
  const Holding& holding = *holdings_.Find(gang);
  const bool of_leaf =
      shares_.is_leaf(holding.leaf) && shares_.leaf(holding.leaf).stop == model::StopPolicy::kHoldAndDrain;
  if (of_leaf) return {"ClusterQueueStopped", "The ClusterQueue is stopped"};
  return {"LocalQueueStopped", "The LocalQueue is stopped"};
}

WaitExplanation KueueAdmission::Explain(model::GangId gang) const {
  const Waiting& waiting = waiting_.at(gang);
  if (waiting.leaf.valid() && !IsActive(waiting.leaf))
    return WhyInactive(waiting.leaf);
  const WaitExplanation* aside = lines_.WhyAside(gang);
  return aside ? *aside : waiting.why;
}

bool KueueAdmission::GoesBehind(model::GangId gang) const {
  const auto waiting = waiting_.find(gang);
  if (waiting == waiting_.end() || !waiting->second.leaf.valid() || !shares_.is_leaf(waiting->second.leaf))
    return false;
  return shares_.leaf(waiting->second.leaf).strategy == model::QueueingStrategy::kStrictFifo &&
         Explain(gang).reason == WaitReason::kPendingEvaluation;
}

PassResult KueueAdmission::Run(base::Millis now) {
  now_ = std::max(now_, now);
  PassResult result;
  for (const model::GangId gang : std::exchange(draining_, {})) {
    if (holdings_.Find(gang)->evicted) continue;
    Evict(gang);
    result.evicted.push_back({gang, {}});
  }
  for (const model::GangId gang : std::exchange(rerouted_, {}))
    if (const auto at = waiting_.find(gang);
        at != waiting_.end() && (!at->second.leaf.valid() || !IsActive(at->second.leaf)))
      result.refused.insert(gang);
  std::map<std::string, QueueId> roots;  // by path, so that the same input gives the same decision
  for (const QueueId leaf : std::exchange(touched_, {}))
    if (shares_.is_leaf(leaf)) {
      const QueueId root = shares_.Root(leaf);
      roots.emplace(shares_.Path(root), root);
    }
  scanned_.clear();
  for (const auto& [path, root] : roots) {
    const std::vector<QueueId> leaves = shares_.LeavesBelow(root);
    // Without one that is given quota or loses it, each gang may at most try all of its flavors and stand aside.
    constexpr size_t kMostFlavors = 64;
    size_t acts = 0, idle = 0;
    while (KueueCycle(*this, leaves, &result).Run()) {
      const size_t now_acts = result.admitted.size() + result.evicted.size();
      idle = now_acts == acts ? idle + 1 : 0;
      acts = now_acts;
      if (idle > kMostFlavors * (waiting_.size() + 1)) break;
    }
  }
  touched_.clear();
  return result;
}

}  // namespace tutti::queue
