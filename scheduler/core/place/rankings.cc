// SPDX-License-Identifier: Apache-2.0
#include "core/place/rankings.h"

#include "base/check.h"
#include "framework/node_check.h"

namespace tutti::core {
namespace {

// What it knows of other classes grows: a ranking is measured again after so many uses.
constexpr uint32_t kUsesPerMeasurement = 64;
// Rankings that take more together fit no cache. Those that can are kept by groups of nodes from then on.
constexpr size_t kCrowdedBytes = size_t{16} << 20;
// More answers about single nodes than that, and a ranking is cheaper. Classes are counted until there are many.
constexpr uint32_t kAnswersWithoutRanking = 8;
constexpr size_t kMostClassesAsked = 4096;

}  // namespace

Rankings::Rankings(const std::vector<framework::Profile>& profiles, const cluster::Snapshot& snapshot,
                   size_t most_bytes)
    : profiles_(profiles), snapshot_(snapshot), most_bytes_(most_bytes) {}

bool Rankings::crowded() const { return bytes_ > kCrowdedBytes || bytes_ > most_bytes_ / 2; }

framework::Ranking& Rankings::For(const std::shared_ptr<const cluster::PodClass>& pod_class) {
  if (const auto known = by_class_.find(pod_class->id); known != by_class_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    Entry& entry = *known->second;
    const bool grouped = crowded() && entry.ranking->KeepGroups();
    entry.ranking->Refresh();
    if (++entry.uses % kUsesPerMeasurement == 0 || grouped) Measure(entry);
    return *entry.ranking;
  }
  const framework::Profile* profile = framework::FindProfile(profiles_, pod_class->spec->scheduler_name);
  TUTTI_CHECK(profile, "only pods of a served profile are ranked");
  const auto keep = crowded() ? framework::Ranking::Keep::kGroups : framework::Ranking::Keep::kNodes;
  entries_.push_front(
      {pod_class, std::make_unique<framework::Ranking>(*profile, *pod_class, snapshot_, workspace_, keep)});
  by_class_[pod_class->id] = entries_.begin();
  ++made_;
  Measure(entries_.front());
  return *entries_.front().ranking;
}

std::optional<cluster::Takings> Rankings::FitsOn(const std::shared_ptr<const cluster::PodClass>& pod_class,
                                                 model::NodeId n) {
  if (asked_.size() >= kMostClassesAsked) asked_.clear();
  if (!by_class_.contains(pod_class->id) && asked_[pod_class->id]++ < kAnswersWithoutRanking) {
    const framework::Profile* profile = framework::FindProfile(profiles_, pod_class->spec->scheduler_name);
    TUTTI_CHECK(profile, "only pods of a served profile are placed");
    return framework::FitsOn(n, *pod_class, *profile, snapshot_);
  }
  const framework::Ranking& ranking = For(pod_class);
  if (!ranking.Feasible(n)) return std::nullopt;
  return ranking.TakingsOn(n);
}

void Rankings::Clear() {
  by_class_.clear();
  entries_.clear();
  bytes_ = 0;
}

// Those that were not used for longest go first; the one in use stays, whatever its size.
void Rankings::Measure(Entry& entry) {
  bytes_ -= entry.bytes;
  entry.bytes = entry.ranking->memory() + entry.pod_class->bytes;
  bytes_ += entry.bytes;
  while (bytes() > most_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    by_class_.erase(entries_.back().pod_class->id);
    entries_.pop_back();
  }
}

}  // namespace tutti::core
