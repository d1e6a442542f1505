// SPDX-License-Identifier: Apache-2.0
// PodLog: which pods came to which nodes, or left them, for readers that each keep their own place in it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/pod_class.h"
#include "model/ids.h"

namespace tutti::cluster {

// A pod that came to a node, or left it.
struct PodChange {
  std::shared_ptr<const PodClass> pod_class;
  model::NodeId node;
  int32_t by = 0;  // +1 or -1
};
inline size_t KeptBy(const PodChange& change) { return change.pod_class->bytes; }

class PodLog {
 public:
  // All pods are in the log while a reader holds a Following; those of affine() classes always are, in a log of their
  // own.
  enum class Of { kAll, kAffine };
  using Following = std::shared_ptr<const void>;
  Following Follow() const { return followed_; }

  // Reading is as with ChangeLog.
  uint64_t end(Of of) const { return LogOf(of).end(); }
  bool Read(Of of, uint64_t from, std::vector<PodChange>* changes) const { return LogOf(of).Read(from, changes); }

  void Push(const PodChange& change, size_t bound) {
    if (change.pod_class->affine()) affine_.Push(change, bound);
    if (followed_.use_count() > 1)
      all_.Push(change, bound);
    else
      all_.Skip();
  }

  // Where the logs end, and back to there: for changes that were undone before any reader saw them. A log that was
  // read meanwhile stays as it is.
  struct Places {
    uint64_t all = 0, affine = 0;
  };
  Places places() const { return {all_.place(), affine_.place()}; }
  void TakeBack(const Places& places) {
    all_.TakeBack(places.all);
    affine_.TakeBack(places.affine);
  }

 private:
  const ChangeLog<PodChange>& LogOf(Of of) const { return of == Of::kAll ? all_ : affine_; }

  ChangeLog<PodChange> all_, affine_;
  const Following followed_ = std::make_shared<char>();
};

}  // namespace tutti::cluster
