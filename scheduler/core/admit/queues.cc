// SPDX-License-Identifier: Apache-2.0
#include "core/admit/queues.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "model/quantity.h"
#include "queue/policies/volcano_capacity.h"
#include "queue/policies/volcano_proportion.h"

namespace tutti::core {

using queue::CellId;
using queue::QueueId;
using queue::QueueKey;

namespace {

observe::QueueRefuses::Limit LimitOf(QueueRule::Kind kind) {
  using Limit = observe::QueueRefuses::Limit;
  switch (kind) {
    case QueueRule::Kind::kCapability: return Limit::kCapability;
    case QueueRule::Kind::kProportion: return Limit::kDeserved;
    case QueueRule::Kind::kCapacity: return Limit::kRealCapability;
  }
  return {};
}

}  // namespace

void Admission::Add(Admission other) {
  if (problem.empty()) problem = std::move(other.problem);
  if (remark.empty()) remark = std::move(other.remark);
  if (other.shortages.empty()) return;
  if (shortages.empty()) limit = other.limit;
  asked = std::move(other.asked);
  std::ranges::move(other.shortages, std::back_inserter(shortages));
}

Queues::Queues(const QueueRule& rule) : limit_(LimitOf(rule.kind)) {
  using Limit = queue::VolcanoProportion::Limit;
  if (rule.kind == QueueRule::Kind::kCapacity)
    rules_ = std::make_unique<queue::VolcanoCapacity>(tree_, used_, rule.ancestor_levels);
  else
    rules_ = std::make_unique<queue::VolcanoProportion>(
        tree_, used_, pending_, rule.kind == QueueRule::Kind::kProportion ? Limit::kDeserved : Limit::kCapability);
}

const model::QueueSpec* Queues::Find(const QueueKey& key) const {
  const QueueId id = tree_.Find(key);
  return id.valid() && tree_.declared(id) ? &tree_.spec(id) : nullptr;
}

std::vector<QueueKey> Queues::Path(const QueueKey& key) const {
  std::vector<QueueKey> path;
  for (QueueId at = tree_.Find(key); at.valid(); at = tree_.parent(at))
    path.push_back({key.dialect, tree_.spec(at).name});
  return path;
}

void Queues::AddNode(const model::ResourceList& allocatable) {
  total_.Add(allocatable);
  total_changed_ = true;
}

void Queues::RemoveNode(const model::ResourceList& allocatable) {
  total_.Subtract(allocatable);
  total_changed_ = true;
}

bool Queues::Renew(bool shares) {
  const bool demands = demand_changed_ && (shares || rules_->LimitsFollowDemand());
  if (renewed_ == tree_.version() && !total_changed_ && !demands) return false;
  rules_->Renew(total_.Seen());
  renewed_ = tree_.version();
  total_changed_ = demand_changed_ = false;
  for (uint32_t queue = 0; queue < tree_.end(); ++queue)
    if (tree_.in_use(QueueId(queue))) SetRank(QueueId(queue));
  return true;
}

void Queues::SetRank(QueueId queue) {
  if (order_.SetRank(queue, {tree_.spec(queue).priority, rules_->Share(queue)})) waits_.Moved(queue);
}

void Queues::OnCharged(const queue::Ledger& ledger, QueueId queue) {
  demand_changed_ = true;
  if (&ledger != &used_) return;
  for (QueueId at = queue; at.valid(); at = tree_.parent(at)) SetRank(at);
}

queue::ChargeId Queues::Charge(queue::Ledger& ledger, const QueueKey& key, const model::ResourceList& amounts) {
  const QueueId queue = tree_.Hold(key);
  const queue::ChargeId charge = ledger.Charge(queue, queue::Ask(tree_.cells(), amounts));
  OnCharged(ledger, queue);
  tree_.Release(queue);
  return charge;
}

void Queues::Release(queue::Ledger& ledger, queue::ChargeId charge) {
  const QueueId queue = ledger.queue(charge);
  tree_.Hold(queue);
  ledger.Release(charge);
  OnCharged(ledger, queue);
  tree_.Release(queue);
}

Admission Queues::Admit(const QueueKey& key, const model::ResourceList& ask) {
  Admission admission;
  if (key.name.empty()) return admission;
  const QueueId queue = tree_.Find(key);
  if (!queue.valid()) {
    admission.problem = queue::NoSuchQueue(key.name);
    return admission;
  }
  queue::AdmitAnswer answer = rules_->Admit(queue, queue::Ask(tree_.cells(), ask));
  const bool declared = std::ranges::all_of(answer.shortages, [this](const queue::CellShortage& it) {
    const model::ResourceList& capability = tree_.spec(it.queue).capability;
    const std::string& resource = tree_.cells().resource(it.cell);
    return capability.Has(resource) && capability.Get(resource) == it.limit;
  });
  admission.limit = declared ? observe::QueueRefuses::Limit::kCapability : limit_;
  admission.problem = std::move(answer.problem);
  for (const queue::CellShortage& it : answer.shortages)
    admission.shortages.push_back(
        {tree_.spec(it.queue).name, tree_.cells().resource(it.cell), it.limit, it.used, it.asked});
  if (!admission.shortages.empty()) admission.asked = ask;
  for (QueueId at = queue; at.valid() && admission.remark.empty(); at = tree_.parent(at))
    admission.remark = rules_->Remark(at);
  for (auto at = admission.shortages.begin(); at != admission.shortages.end();) {
    const auto end = std::find_if(at, admission.shortages.end(), [&](const auto& it) { return it.queue != at->queue; });
    std::ranges::sort(at, end, {}, &observe::QueueRefuses::Cell::resource);
    at = end;
  }
  return admission;
}

Admission Queues::AdmitByCapability(const QueueKey& key, const model::ResourceList& ask) const {
  Admission admission;
  for (QueueId at = tree_.Find(key); at.valid(); at = tree_.parent(at))
    for (const auto& [resource, limit] : tree_.spec(at).capability) {
      const CellId cell = tree_.cells().Find({}, resource);
      const int64_t asked = ask.Get(resource), used = used_.Used(at, cell);
      if (asked > 0 && model::SaturatingAdd(used, asked) > limit)
        admission.shortages.push_back({tree_.spec(at).name, resource, limit, used, asked});
    }
  if (!admission.shortages.empty()) admission.asked = ask;
  return admission;
}

bool Queues::IsWithinCapability(const QueueKey& key, const model::ResourceList& amounts) const {
  for (QueueId at = tree_.Find(key); at.valid(); at = tree_.parent(at))
    for (const auto& [resource, limit] : tree_.spec(at).capability)
      if (amounts.Get(resource) > 0 && used_.Used(at, tree_.cells().Find({}, resource)) > limit) return false;
  return true;
}

std::set<std::string_view> Queues::Limited(const QueueKey& key) const {
  std::set<std::string_view> names;
  const QueueId queue = tree_.Find(key);
  if (!queue.valid()) return names;
  for (const CellId cell : used_.Limited(queue)) names.insert(tree_.cells().resource(cell));
  return names;
}

void Queues::Audit(size_t held, size_t asked) const {
  used_.Audit();
  pending_.Audit();
  TUTTI_CHECK(used_.charges() == held && pending_.charges() == asked, "each charge is that of one member");
}

int64_t Queues::Used(const QueueKey& key, std::string_view resource) const {
  const QueueId queue = tree_.Find(key);
  const CellId cell = tree_.cells().Find({}, resource);
  return queue.valid() && cell.valid() ? used_.Used(queue, cell) : 0;
}

}  // namespace tutti::core
