// SPDX-License-Identifier: Apache-2.0
#include "core/admit/quota_counts.h"

#include <algorithm>
#include <limits>

#include "model/quantity.h"

namespace tutti::core {

void Resize(int64_t count, model::HeldQuota::Role* role) {
  if (role->count > 0 && role->count != count) {
    model::ResourceList requests;
    for (const auto& [resource, amount] : role->requests)
      requests.Set(resource, model::SaturatingMul(amount / role->count, count));
    role->requests = std::move(requests);
  }
  role->count = count;
}

model::HeldQuota WithoutDone(model::HeldQuota quota, const std::map<std::string, int64_t>& done) {
  for (model::HeldQuota::Role& role : quota.roles)
    if (const auto ended = done.find(role.name); ended != done.end() && role.count > 0)
      Resize(std::max<int64_t>(0, role.count - ended->second), &role);
  return quota;
}

bool IsAdmitted(const Gang& gang) {
  const GangQuota& quota = *gang.quota;
  if (!quota.report.has || quota.is_trial || !quota.terms || quota.terms->awaits_checks) return false;
  return quota.fit != model::Fit::kNodes || quota.placed || quota.taken_over;
}

void QuotaCounts::Count(model::GangId id, const Gang& gang) {
  if (!gang.quota || !gang.quota->terms || gang.quota->replaced) return Forget(id);
  // What is barred stands in no line.
  if (!gang.quota->report.has && !gang.quota->terms->barred.empty()) return Forget(id);
  As as{{gang.quota->terms->ask.ns, gang.quota->terms->ask.local_queue}, {}, false, false, {}};
  if (const auto& has = gang.quota->report.has; has && !gang.quota->is_trial) {
    as.leaf = has->leaf;
    as.admitted = IsAdmitted(gang);
    as.asks_more = !gang.quota->report.more_reason.empty();
    for (const model::HeldQuota::Role& role : WithoutDone(*has, gang.quota->terms->done).roles)
      for (const auto& [resource, flavor] : role.flavors) {
        int64_t& amount = as.amounts[{flavor, resource}];
        amount = model::SaturatingAdd(amount, role.requests.Get(resource));
      }
  }
  const auto [at, first] = counted_.try_emplace(id);
  if (!first && at->second == as) return;
  if (!first) Add(at->second, -1);
  at->second = std::move(as);
  Add(at->second, 1);
}

void QuotaCounts::Forget(model::GangId id) {
  const auto at = counted_.find(id);
  if (at == counted_.end()) return;
  Add(at->second, -1);
  counted_.erase(at);
}

void QuotaCounts::Add(const As& as, int64_t times) {
  AddTo(as.local, as, times);
  if (!as.leaf.empty()) AddTo({"", as.leaf}, as, times);
  if (const auto leaf = leaf_of_.find(as.local); leaf != leaf_of_.end()) Touch({"", leaf->second});
}

void QuotaCounts::AddTo(const QueueName& queue, const As& as, int64_t times) {
  Touch(queue);
  Sums& sums = sums_[queue];
  if (as.leaf.empty()) {
    sums.pending += times;
  } else {
    sums.reserving += times;
    if (as.admitted) sums.admitted += times;
    if (as.asks_more && !queue.first.empty()) sums.pending += times;  // a queue's are those of the ones that lead to it
    for (const auto& [cell, amount] : as.amounts) {
      sums.reserved[cell] += absl::int128(times) * amount;
      if (as.admitted) sums.used[cell] += absl::int128(times) * amount;
    }
  }
  if (sums.pending == 0 && sums.reserving == 0) sums_.erase(queue);
}

void QuotaCounts::Lead(const QueueName& local, const std::string& leaf) {
  Touch(local);
  if (const auto before = leaf_of_.find(local); before != leaf_of_.end()) {
    Touch({"", before->second});
    locals_of_[before->second].erase(local);
    leaf_of_.erase(before);
  }
  if (leaf.empty()) return;
  Touch({"", leaf});
  leaf_of_[local] = leaf;
  locals_of_[leaf].insert(local);
}

int64_t QuotaCounts::AmountOf(const std::map<CellName, absl::int128>& amounts, const CellName& cell) {
  const auto at = amounts.find(cell);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return at == amounts.end() ? 0 : static_cast<int64_t>(std::min<absl::int128>(at->second, kMost));
}

QuotaCounts::Sums QuotaCounts::Of(const QueueName& queue) const {
  const auto at = sums_.find(queue);
  Sums sums = at == sums_.end() ? Sums() : at->second;
  if (const auto locals = locals_of_.find(queue.second); queue.first.empty() && locals != locals_of_.end())
    for (const QueueName& local : locals->second)
      if (const auto of = sums_.find(local); of != sums_.end()) sums.pending += of->second.pending;
  return sums;
}

}  // namespace tutti::core
