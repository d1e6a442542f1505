// SPDX-License-Identifier: Apache-2.0
// sim/nodes/kubelet.h - the kubelets of all nodes: bound pods are admitted, run, finish and stop.
//
// As real kubelets do, each looks at its own node only: a pod that exceeds what is left of the node's allocatable is
// rejected (phase Failed, reason OutOfcpu and the like), by whatever it was bound. Containers are not run; a pod is
// Running and Ready as soon as it is admitted. A pod that is resized (pods/resize) is given what it asks for once the
// node has that, and until then says PodResizePending. Time passes only through the clock.
//
// Annotations of the pod say how long it runs and stops (sim/objects/lifetime.h).
//
// A kubelet whose node is not Ready does nothing until it is again.
#pragma once

#include <absl/container/node_hash_map.h>

#include <optional>
#include <set>
#include <string>

#include "model/pod.h"
#include "model/resource_sum.h"
#include "sim/store/component.h"
#include "sim/store/decoded.h"
#include "sim/store/event_recorder.h"
#include "sim/store/work_queue.h"

namespace tutti::sim {

struct KubeletOptions {
  base::Millis start_ms = 0;  // from the bind to Running
  // How long pods of Jobs run that do not say (KWOK: 0). Empty: without end.
  std::optional<base::Millis> job_pods_run_ms;
  base::Millis stop_ms = 0;  // how long deleted pods take to stop that do not say, at most their grace period
};

class Kubelet final : public Component {
 public:
  // All must outlive it.
  Kubelet(Store& store, Decoded& decoded, const base::Clock& clock, KubeletOptions options = {});

  std::string_view name() const override { return "kubelet"; }
  void Observe(const WatchEvent& event) override;
  bool Work() override;
  void WriteEvents(EventsWritten events) override { written_ = events; }
  std::optional<base::Millis> NextDeadline() const override { return queue_.NextTime(); }

  // What the admitted pods of a node take, "pods" included.
  model::ResourceList UsedOn(const std::string& node) const;

 private:
  struct Admitted {
    std::string uid;
    std::string node;
    model::ResourceList requests;  // what it was given
    int64_t generation = 0;        // of the pod when it was last looked at what it asks for
    base::Millis start_at_ms = 0;
    std::optional<base::Millis> finish_at_ms;  // known once it runs
    std::optional<base::Millis> stop_at_ms;    // known once it is deleted
  };
  struct NodeState {
    bool present = false;
    bool ready = false;
    model::ResourceList allocatable;
    model::ResourceSum used;
    std::set<ObjectKey> deferred;  // resizes that wait for others to go
    std::set<ObjectKey> bound;     // every pod that names the node and is there
  };

  // What pods of one template say when they start at one instant.
  struct Begun {
    base::Millis at_ms = -1;
    Json containers, init_containers, resources;  // of the spec
    Json status;                                  // of the containers, and what they were given; frozen
    Json conditions;                              // frozen
  };

  void OnPod(const WatchEvent& event);
  void OnNode(const WatchEvent& event);
  void Reconcile(const ObjectKey& key);
  void Release(const ObjectKey& key);
  void Admit(const ObjectKey& key, const Object& object, NodeState& node);
  void Reject(const Json& pod, const std::string& resource, const std::string& message);
  void Run(const ObjectKey& key, Admitted& admitted, const Json& pod);
  void Resize(const ObjectKey& key, Admitted& admitted, const Json& pod);
  void Start(const Json& pod);
  const Begun& BeginNow(const Json& spec);
  // `why`: what cut it off; empty: nothing.
  void MarkEnded(const Json& pod, int64_t exit_code, const char* why);
  void Stop(const ObjectKey& key, const Json& pod);
  std::optional<base::Millis> RunTime(const Json& pod);
  std::string NextPodIp();

  // Constant after construction.
  Store& store_;
  Decoded& decoded_;
  const base::Clock& clock_;
  const KubeletOptions options_;

  EventRecorder events_;
  EventsWritten written_ = EventsWritten::kAll;
  WorkQueue queue_;
  // References into both stay while others come and go.
  absl::node_hash_map<ObjectKey, Admitted> admitted_;
  absl::node_hash_map<std::string, NodeState> nodes_;
  uint32_t next_ip_ = 0;
  Begun begun_;  // the last
};

}  // namespace tutti::sim
