// SPDX-License-Identifier: Apache-2.0
#include "queue/quota.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/quantity.h"

namespace tutti::queue {

void Quota::Put(model::QueueSpec spec) {
  const QueueKey key{spec.dialect, spec.name};
  const model::QueueSpec* known = Find(key);
  stale_ = stale_ || (known ? known->parent : std::string()) != spec.parent;
  specs_.insert_or_assign(key, std::move(spec));
}

void Quota::Drop(const QueueKey& key) {
  const model::QueueSpec* known = Find(key);
  stale_ = stale_ || (known && !known->parent.empty());
  specs_.erase(key);
}

const model::QueueSpec* Quota::Find(const QueueKey& key) const {
  const auto at = specs_.find(key);
  return at == specs_.end() ? nullptr : &at->second;
}

// Returns the queue and all above it, declared or not. In a cycle of parents, which is a user's mistake, each queue is
// returned once.
std::vector<QueueKey> Quota::Upwards(const QueueKey& key) const {
  std::vector<QueueKey> path{key};
  for (const model::QueueSpec* spec = Find(key); spec && !spec->parent.empty(); spec = Find(path.back())) {
    QueueKey parent{key.dialect, spec->parent};
    if (std::ranges::find(path, parent) != path.end()) break;
    path.push_back(std::move(parent));
  }
  return path;
}

void Quota::Charge(const QueueKey& key, const model::ResourceList& amount, int sign) {
  Add(key, amount, sign, &own_);
  if (stale_) return;
  for (const QueueKey& at : Upwards(key)) Add(at, amount, sign, &sums_);
}

void Quota::Add(const QueueKey& key, const model::ResourceList& amount, int sign, Sums* sums) {
  const auto sum = sums->try_emplace(key).first;
  if (sign > 0)
    sum->second.Add(amount);
  else
    sum->second.Subtract(amount);
  if (sum->second.empty()) sums->erase(sum);
}

void Quota::SumUp() const {
  sums_.clear();
  for (const auto& [key, own] : own_)
    for (const QueueKey& at : Upwards(key)) sums_[at].Add(own);
  stale_ = false;
}

model::ResourceList Quota::Used(const QueueKey& key) const {
  if (stale_) SumUp();
  const auto sum = sums_.find(key);
  return sum == sums_.end() ? model::ResourceList() : sum->second.Seen();
}

int64_t Quota::Used(const QueueKey& key, std::string_view resource) const {
  if (stale_) SumUp();
  const auto sum = sums_.find(key);
  return sum == sums_.end() ? 0 : sum->second.Get(resource);
}

std::vector<QueueKey> Quota::Path(const QueueKey& key) const {
  std::vector<QueueKey> path;
  for (QueueKey at = key; specs_.contains(at) && std::ranges::find(path, at) == path.end();) {
    path.push_back(at);
    const std::string& parent = specs_.at(at).parent;
    if (parent.empty()) break;
    at = {key.dialect, parent};
  }
  return path;
}

std::set<std::string_view> Quota::Capped(const QueueKey& key) const {
  std::set<std::string_view> names;
  for (const QueueKey& at : Path(key))
    for (const auto& [name, capability] : specs_.at(at).capability) names.insert(name);
  return names;
}

Admission Quota::Admit(const QueueKey& key, const model::ResourceList& ask) const {
  Admission admission;
  if (key.name.empty()) {
    admission.admitted = true;
    return admission;
  }
  const std::vector<QueueKey> path = Path(key);
  if (path.empty()) {
    admission.problem =
        fmt::format("queue \"{}\" does not exist; create it, or name another queue", base::Cut(key.name, 253));
    return admission;
  }
  for (const QueueKey& at : path) {
    const model::QueueSpec& spec = specs_.at(at);
    if (!spec.problem.empty())
      admission.problem = spec.problem;
    else if (!spec.open())
      admission.problem = fmt::format("queue \"{}\" is not open; it starts nothing until it is", at.name);
    if (!admission.problem.empty()) return admission;
    for (const auto& [name, capability] : spec.capability)
      if (const int64_t asked = ask.Get(name), used = Used(at, name);
          asked > 0 && model::SaturatingAdd(used, asked) > capability)
        admission.shortages.push_back({at.name, name, capability, used, asked});
  }
  admission.admitted = admission.shortages.empty();
  return admission;
}

}  // namespace tutti::queue
