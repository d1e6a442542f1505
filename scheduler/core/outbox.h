// SPDX-License-Identifier: Apache-2.0
// Outbox: the commands of one cycle, numbered. They leave together at its end.
#pragma once

#include <utility>
#include <vector>

#include "cluster/ports.h"

namespace tutti::core {

class Outbox {
 public:
  // The id its answer will carry. `body` is one of CommandBody, or such a variant.
  template <typename Body>
  cluster::CommandId Send(cluster::Lane lane, base::Millis deadline_ms, Body&& body) {
    Put(++last_id_, lane, deadline_ms, std::forward<Body>(body));
    return last_id_;
  }
  // For a command that leaves by another way and is answered as these are.
  cluster::CommandId NextId() { return ++last_id_; }
  // Without an answer.
  template <typename Body>
  void Post(cluster::Lane lane, base::Millis deadline_ms, Body&& body) {
    Put(0, lane, deadline_ms, std::forward<Body>(body));
  }
  void Flush(cluster::ClusterWriter& writer) {
    usual_ = commands_.size();
    if (!commands_.empty()) writer.Submit(std::exchange(commands_, {}));
  }

 private:
  // A command is large, and moved as seldom as can be: into its place, and not again as the list grows.
  template <typename Body>
  void Put(cluster::CommandId id, cluster::Lane lane, base::Millis deadline_ms, Body&& body) {
    if (commands_.empty()) commands_.reserve(usual_);
    commands_.emplace_back(id, lane, deadline_ms, std::forward<Body>(body));
  }

  std::vector<cluster::Command> commands_;
  size_t usual_ = 0;  // in the last cycle
  cluster::CommandId last_id_ = 0;
};

}  // namespace tutti::core
