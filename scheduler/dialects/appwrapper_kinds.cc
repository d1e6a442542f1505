// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_kinds.h"

#include <algorithm>

namespace tutti::dialects {
namespace {

const std::vector<WrappedKind>& Table() {
  static const std::vector<WrappedKind> table{
      {{"", "pods", "Pod", {"v1"}}},
      {{"", "services", "Service", {"v1"}}},
      {{"", "configmaps", "ConfigMap", {"v1"}}},
      {{"apps", "deployments", "Deployment", {"v1"}}},
      {{"apps", "statefulsets", "StatefulSet", {"v1"}}},
      {{"batch", "jobs", "Job", {"v1"}}, true},
      {{"ray.io", "rayclusters", "RayCluster", {"v1", "v1alpha1"}}, true},
      {{"ray.io", "rayjobs", "RayJob", {"v1", "v1alpha1"}}, true},
      {{"ray.io", "rayservices", "RayService", {"v1", "v1alpha1"}}, true},
      {{"jobset.x-k8s.io", "jobsets", "JobSet", {"v1alpha2"}}, true},
      {{"kubeflow.org", "pytorchjobs", "PyTorchJob", {"v1"}}, true},
      {{"leaderworkerset.x-k8s.io", "leaderworkersets", "LeaderWorkerSet", {"v1"}}, true},
      {{"scheduling.x-k8s.io", "podgroups", "PodGroup", {"v1alpha1"}}},
      {{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}}},
  };
  return table;
}

}  // namespace

const WrappedKind* FindWrappedKind(std::string_view group, std::string_view kind) {
  const auto at = std::ranges::find_if(
      Table(), [&](const WrappedKind& row) { return row.kind.group == group && row.kind.kind == kind; });
  return at == Table().end() ? nullptr : &*at;
}

const std::vector<model::ObjectKind>& WatchedKinds() {
  static const std::vector<model::ObjectKind> watched = [] {
    std::vector<model::ObjectKind> kinds;
    for (const WrappedKind& row : Table())
      if (row.watched) kinds.push_back(row.kind);
    return kinds;
  }();
  return watched;
}

}  // namespace tutti::dialects
