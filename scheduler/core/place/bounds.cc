// SPDX-License-Identifier: Apache-2.0
#include "core/place/bounds.h"

#include <algorithm>

namespace tutti::core {

Bounds::Bounds(const Problem& problem, Rankings& rankings) : problem_(problem), rankings_(rankings) {
  for (const MemberKind& kind : problem.kinds)
    if (classes_.empty() || classes_.back() != kind.pod_class.get()) classes_.push_back(kind.pod_class.get());
  std::ranges::sort(classes_, {}, &cluster::PodClass::id);
  classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
}

int64_t Bounds::RoomFor(const std::shared_ptr<const cluster::PodClass>& pod_class) {
  const auto [at, fresh] = room_of_.try_emplace(pod_class.get(), 0);
  if (!fresh) return at->second;
  std::vector<const cluster::PodClass*> others = classes_;
  std::erase(others, pod_class.get());
  framework::Ranking& ranking = rankings_.For(pod_class);
  return at->second = ranking.Most(ranking.Rooms(), others);
}

int64_t Bounds::Most(const Demand& demand) {
  absl::flat_hash_map<const cluster::PodClass*, int64_t> left_of;  // room that kinds of the class before did not take
  int64_t most = 0;
  for (const size_t k : demand.kinds) {
    const auto& pod_class = problem_.kinds[k].pod_class;
    int64_t& left = left_of.try_emplace(pod_class.get(), RoomFor(pod_class)).first->second;
    const int64_t taken = std::min<int64_t>(problem_.kinds[k].count(), left);
    left -= taken;
    most += taken;
  }
  return most;
}

}  // namespace tutti::core
