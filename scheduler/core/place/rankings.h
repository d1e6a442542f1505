// SPDX-License-Identifier: Apache-2.0
// Rankings: one Ranking per class of pods in use, the least recently used dropped when they outgrow their memory.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cluster/state.h"
#include "framework/profile.h"
#include "framework/ranking.h"

namespace tutti::core {

class Rankings {
 public:
  // The arguments must outlive this.
  Rankings(const std::vector<framework::Profile>& profiles, const cluster::Snapshot& snapshot, size_t most_bytes);

  // Returns true for a schedulerName that some profile serves.
  bool Serves(const std::string& scheduler_name) const {
    return framework::FindProfile(profiles_, scheduler_name) != nullptr;
  }

  // Returns the ranking of the class, caught up with the snapshot. Valid until the next For() of another class.
  // REQUIRES: its schedulerName is served.
  framework::Ranking& For(const std::shared_ptr<const cluster::PodClass>& pod_class);

  // Returns Ranking::RoomNow; nullopt also where the class is not ranked any more.
  std::optional<int64_t> RoomNow(const cluster::PodClass& pod_class, model::NodeId n, framework::Wake* wakes) const {
    const auto known = by_class_.find(pod_class.id);
    return known == by_class_.end() ? std::nullopt : known->second->ranking->RoomNow(n, wakes);
  }

  // Returns what placing a pod of the class on `n` takes there: see Ranking::TakingsOn.
  cluster::Takings TakingsOn(const std::shared_ptr<const cluster::PodClass>& pod_class, model::NodeId n) {
    return pod_class->claims.empty() ? cluster::Takings() : For(pod_class).TakingsOn(n);
  }

  // What a pod of the class takes on the node besides room; nullopt: the node does not take it. The first few answers
  // about a class make no ranking: members that take over promises are often of a class of their own.
  std::optional<cluster::Takings> FitsOn(const std::shared_ptr<const cluster::PodClass>& pod_class, model::NodeId n);

  void Clear();

  size_t count() const { return entries_.size(); }
  uint64_t made() const { return made_; }  // so far
  size_t bytes() const { return bytes_ + framework::Ranking::MemoryOf(*workspace_); }

 private:
  struct Entry {
    std::shared_ptr<const cluster::PodClass> pod_class;  // keeps the id from being given to another class
    std::unique_ptr<framework::Ranking> ranking;
    size_t bytes = 0;  // as last measured
    uint32_t uses = 0;
  };
  void Measure(Entry& entry);
  bool crowded() const;

  const std::vector<framework::Profile>& profiles_;
  const cluster::Snapshot& snapshot_;
  const size_t most_bytes_;
  const std::shared_ptr<framework::Ranking::Workspace> workspace_ = framework::Ranking::MakeWorkspace();
  uint64_t made_ = 0;
  size_t bytes_ = 0;          // of the rankings, without what they have in common
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<model::ClassId, std::list<Entry>::iterator> by_class_;
  absl::flat_hash_map<model::ClassId, uint32_t> asked_;  // how often FitsOn has answered for a class without a ranking
};

}  // namespace tutti::core
