// SPDX-License-Identifier: Apache-2.0
// LocalUsage: how much each queue of a namespace has used of late, so that the one that used least comes first. One
// thread.
//
// What was used counts half after the half-life. It is worked out when it is asked for or changes: nothing is done as
// time goes by. A gang that is admitted counts at once with what it would have used in one sampling interval, so that a
// queue cannot have many admitted before any of them counts.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <string>

#include "base/clock.h"
#include "model/resource_list.h"

namespace tutti::queue {

struct LocalUsageRules {
  base::Millis half_life_ms = 0;  // 0: what was used before does not count
  base::Millis sampling_ms = 300'000;
  std::map<std::string, double> resource_weights;  // of resources that are not named: 1
};

class LocalUsage {
 public:
  explicit LocalUsage(LocalUsageRules rules) : rules_(std::move(rules)) {}

  // 0: all that it uses counts without end.
  void SetWeight(const std::string& local, double weight) { locals_[local].weight = weight; }
  // Forgets what it used, and its weight.
  void Drop(const std::string& local) { locals_.erase(local); }

  // A gang of the queue takes this from `now` on, or no longer does.
  void Take(const std::string& local, const model::ResourceList& amounts, base::Millis now);
  void Return(const std::string& local, const model::ResourceList& amounts, base::Millis now);
  // Counts what a gang that was admitted would have used in one sampling interval.
  void CountAdmission(const std::string& local, const model::ResourceList& amounts);

  // What the queue has used by `now`, by its weight.
  double Of(const std::string& local, base::Millis now) const;

 private:
  struct Local {
    double weight = 1;
    double uses = 0, used = 0;  // all resources together, by their weights
    base::Millis as_of_ms = 0;
  };
  double Weigh(const model::ResourceList& amounts) const;
  // The part that `elapsed` of now has in the average.
  double PartOfNow(base::Millis elapsed_ms) const;
  double UsedAt(const Local& local, base::Millis now) const;
  void Change(const std::string& local, double by, base::Millis now);

  LocalUsageRules rules_;
  absl::flat_hash_map<std::string, Local> locals_;
};

}  // namespace tutti::queue
