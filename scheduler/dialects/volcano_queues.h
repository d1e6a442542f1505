// SPDX-License-Identifier: Apache-2.0
// Volcano's Queues: a tree by spec.parent, capped by spec.capability, with counters and state in their status.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"

namespace tutti::dialects {

class VolcanoQueues {
 public:
  static model::ObjectKind Kind();

  void Put(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void Drop(std::string_view name, Touched* touched);

  // A PodGroup names this queue, or does so no longer. One without an object is touched when the first does and when
  // the last does not, so that the engine asks about it.
  void Mention(const std::string& name, Touched* touched);
  void Forget(const std::string& name, Touched* touched);

  // `default` and `root`, which Volcano's scheduler creates, need no object and have no cap; any other that is named
  // and does not exist has the problem that it does not. nullopt: no object speaks of it.
  std::optional<model::QueueSpec> Describe(std::string_view name) const;

  // Counters, allocated, and the state where it is empty: one that Volcano's controller has set is never changed.
  void Desire(const QueueReport& report, const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out) const;

 private:
  struct Queue {
    std::shared_ptr<const model::Object> object;  // never null
    model::QueueSpec spec;                        // as written, the parent not looked at
  };
  void TouchTree(std::string_view name, Touched* touched) const;
  // Empty, or why the queues above cannot be used.
  std::string ProblemAbove(const Queue& queue) const;

  std::map<std::string, Queue, std::less<>> queues_;
  std::map<std::string, std::set<std::string>, std::less<>> children_;  // by spec.parent, existing or not
  std::map<std::string, size_t, std::less<>> mentions_;                 // PodGroups by the queue that they name
};

}  // namespace tutti::dialects
