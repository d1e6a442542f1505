// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/local_usage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti::queue {

double LocalUsage::Weigh(const model::ResourceList& amounts) const {
  double sum = 0;
  for (const auto& [resource, amount] : amounts) {
    const auto at = rules_.resource_weights.find(resource);
    const double weight = at == rules_.resource_weights.end() ? 1 : at->second;
    sum += weight * static_cast<double>(amount) / (resource == model::kCpu ? 1000 : 1);
  }
  return sum;
}

double LocalUsage::PartOfNow(base::Millis elapsed_ms) const {
  if (rules_.half_life_ms <= 0) return 1;
  const auto halvings =
      static_cast<double>(std::max<base::Millis>(0, elapsed_ms)) / static_cast<double>(rules_.half_life_ms);
  return 1 - std::exp2(-halvings);
}

double LocalUsage::UsedAt(const Local& local, base::Millis now) const {
  const double part = PartOfNow(now - local.as_of_ms);
  return (1 - part) * local.used + part * local.uses;
}

void LocalUsage::Change(const std::string& name, double by, base::Millis now) {
  Local& local = locals_[name];
  local.used = UsedAt(local, now);
  local.as_of_ms = std::max(local.as_of_ms, now);
  local.uses = std::max(0.0, local.uses + by);
}

void LocalUsage::Take(const std::string& local, const model::ResourceList& amounts, base::Millis now) {
  Change(local, Weigh(amounts), now);
}

void LocalUsage::Return(const std::string& local, const model::ResourceList& amounts, base::Millis now) {
  Change(local, -Weigh(amounts), now);
}

void LocalUsage::CountAdmission(const std::string& local, const model::ResourceList& amounts) {
  locals_[local].used += PartOfNow(rules_.sampling_ms) * Weigh(amounts);
}

double LocalUsage::Of(const std::string& name, base::Millis now) const {
  const auto at = locals_.find(name);
  if (at == locals_.end()) return 0;
  const double used = UsedAt(at->second, now);
  if (at->second.weight > 0) return used / at->second.weight;
  return used > 0 ? std::numeric_limits<double>::infinity() : 0;
}

}  // namespace tutti::queue
