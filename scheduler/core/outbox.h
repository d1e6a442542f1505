// SPDX-License-Identifier: Apache-2.0
// Outbox: the commands of one cycle, numbered. They leave together at its end.
#pragma once

#include <utility>
#include <vector>

#include "cluster/ports.h"
#include "model/pod.h"

namespace tutti::core {

// Whom a command about a pod is about.
inline cluster::ObjectRef RefOf(const model::Pod& pod) {
  return {"", "v1", "pods", "Pod", pod.meta.ns, pod.meta.name, pod.meta.uid, {}};
}

class Outbox {
 public:
  // The id its answer will carry.
  cluster::CommandId Send(cluster::Lane lane, base::Millis deadline_ms, cluster::CommandBody body) {
    commands_.push_back({++last_id_, lane, deadline_ms, std::move(body)});
    return last_id_;
  }
  // Without an answer.
  void Post(cluster::Lane lane, base::Millis deadline_ms, cluster::CommandBody body) {
    commands_.push_back({0, lane, deadline_ms, std::move(body)});
  }
  void Flush(cluster::ClusterWriter& writer) {
    if (!commands_.empty()) writer.Submit(std::exchange(commands_, {}));
  }

 private:
  std::vector<cluster::Command> commands_;
  cluster::CommandId last_id_ = 0;
};

}  // namespace tutti::core
