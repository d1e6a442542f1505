// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/fit.h"

#include <algorithm>

namespace tutti::core {

using model::Fit;

bool AutoFits::SeesAutoscaler(const cluster::Snapshot& nodes) const {
  return std::ranges::any_of(
      labels_, [&](const std::string& label) { return nodes.labels().HasKey(nodes.symbols().Intern(label)); });
}

Fit AutoFits::Of(const model::GangSpec& spec, const cluster::Snapshot& nodes) const {
  if (spec.fit != Fit::kAuto) return spec.fit;
  return SeesAutoscaler(nodes) ? Fit::kQuota : Fit::kNodes;
}

bool AutoFits::IsAdmittedUnplaced(const Gang& gang, const cluster::Snapshot& nodes) const {
  if (gang.spec.fit == Fit::kNodes || gang.spec.quota || gang.spec.promised.empty()) return false;
  return Of(gang.spec, nodes) != Fit::kNodes && !(gang.spec.fit == Fit::kAuto && gang.plan);
}

void AutoFits::Follow(model::GangId id, const model::GangSpec& spec) {
  if (spec.fit == Fit::kAuto)
    gangs_.insert(id);
  else
    gangs_.erase(id);
}

std::vector<model::GangId> AutoFits::TakeChanged(const cluster::Snapshot& nodes) {
  if (gangs_.empty()) return {};
  const bool sees = SeesAutoscaler(nodes);
  if (std::exchange(seen_, sees) == sees) return {};
  return {gangs_.begin(), gangs_.end()};
}

}  // namespace tutti::core
