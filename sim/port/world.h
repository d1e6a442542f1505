// SPDX-License-Identifier: Apache-2.0
// sim/port/world.h - the whole embedded cluster but its HTTP door: objects, kubelets, controllers.
//
// Nothing happens by itself: what changes in the store waits until Pump, which lets every component work until all are
// quiet. Between pumps a driver may move the clock, write, and inject faults. The same calls with the same seed give
// the same cluster, uids and names included.
//
// One thread: the store's owner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/kuberay/ray_options.h"
#include "sim/nodes/kubelet.h"
#include "sim/nodes/node_lifecycle.h"
#include "sim/store/decoded.h"
#include "sim/store/store.h"

namespace tutti::sim {

struct WorldOptions {
  uint64_t seed = 1;
  KubeletOptions kubelet;
  KubeRayOptions kuberay;
  // RayCluster and RayJob are served from the start, by definitions of our own.
  bool with_ray = true;
  // scheduling.k8s.io/v1alpha2 is served, which kube-apiserver does only with --runtime-config.
  bool with_upstream_gangs = true;
  // ResourceTable::PreferGroup.
  std::string preferred_group = "";
  // Deployments, ReplicaSets, Jobs, RayClusters, RayJobs, volume claims and ephemeral volumes are worked off. Off:
  // something outside does it.
  bool with_controllers = true;
  // Which Events kubelets and controllers write.
  EventsWritten events = EventsWritten::kAll;
  // So many of the store's events are kept for watches that resume.
  size_t event_log = 50'000;
};

class World {
 public:
  // `clock` must outlive it.
  explicit World(const base::Clock& clock, WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Store& store() { return store_; }
  const base::Clock& clock() const { return clock_; }
  NodeLifecycle& nodes() { return *nodes_; }
  Kubelet& kubelet() { return *kubelet_; }
  // For the feeds of schedulers.
  Decoded& decoded() { return decoded_; }

  // Lets all components work until none has anything to do at this instant. True if anything was done.
  bool Pump();

  // The next instant at which a pump would do something though nothing changes; monotonic. Empty: none.
  std::optional<base::Millis> NextDeadline() const;

 private:
  const base::Clock& clock_;
  Store store_;
  Decoded decoded_;
  std::vector<std::unique_ptr<Component>> components_;  // in the order in which they work
  NodeLifecycle* nodes_ = nullptr;
  Kubelet* kubelet_ = nullptr;
  int64_t subscription_ = 0;
};

}  // namespace tutti::sim
