// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_cluster_controller.h - RayClusters become services and pods, as with the KubeRay operator.
//
// Unlike the operator's, its view is never stale and it waits for nothing: what the operator does two seconds later is
// done in the same pump. Redis cleanup jobs, ingresses and routes are not made.
#pragma once

#include "sim/kuberay/ray_options.h"
#include "sim/kuberay/ray_status.h"
#include "sim/store/controller.h"

namespace tutti::sim {

class RayClusterController final : public Controller {
 public:
  RayClusterController(Store& store, const base::Clock& clock, KubeRayOptions options)
      : Controller(store, clock), options_(options) {}

  std::string_view name() const override { return "raycluster-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  void Reconcile(const ObjectKey& key) override;
  ray::Outcome ReconcileAll(const Json& cluster);
  std::optional<std::string> EnsureServices(const Json& cluster);
  std::optional<std::string> EnsureAccess(const Json& cluster);
  ray::Outcome ReconcilePods(const Json& cluster);
  ray::Outcome ReconcileHead(const Json& cluster, const std::vector<Object>& pods);
  ray::Outcome ReconcileGroup(const Json& cluster, const Json& group, std::vector<Object> pods);
  ray::Outcome AddWorkers(const Json& cluster, const Json& group, const std::vector<Object>& pods, int64_t count);
  void LabelReplica(const Json& group, const std::vector<Object>& pods, int64_t ordinal, Json& pod);
  void DeletePod(const Json& pod);
  std::vector<Object> PodsOf(const Json& cluster) const;
  std::vector<Object> HeadServicesOf(const Json& cluster) const;

  // Constant after construction.
  const KubeRayOptions options_;

  // By namespace and the label ray.io/cluster.
  ObjectIndex pods_{kPods};
  ObjectIndex head_services_{kServices};
};

}  // namespace tutti::sim
