// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_names.h - the names KubeRay gives: label keys, ports, and how long a name may be.
#pragma once

#include <string>

#include "sim/objects/object.h"

namespace tutti::sim::ray {

inline constexpr const char* kClusterLabel = "ray.io/cluster";
inline constexpr const char* kNodeTypeLabel = "ray.io/node-type";
inline constexpr const char* kGroupLabel = "ray.io/group";
inline constexpr const char* kIsRayNodeLabel = "ray.io/is-ray-node";
inline constexpr const char* kIdentifierLabel = "ray.io/identifier";
inline constexpr const char* kServeLabel = "ray.io/serve";
inline constexpr const char* kHeadlessLabel = "ray.io/headless-worker-svc";
inline constexpr const char* kOriginNameLabel = "ray.io/originated-from-cr-name";
inline constexpr const char* kOriginKindLabel = "ray.io/originated-from-crd";
inline constexpr const char* kAppNameLabel = "app.kubernetes.io/name";
inline constexpr const char* kCreatedByLabel = "app.kubernetes.io/created-by";
inline constexpr const char* kReplicaIndexLabel = "ray.io/worker-group-replica-index";
inline constexpr const char* kReplicaNameLabel = "ray.io/worker-group-replica-name";
inline constexpr const char* kHostIndexLabel = "ray.io/replica-host-index";

inline constexpr const char* kPriorityClassLabel = "ray.io/priority-class-name";
inline constexpr const char* kGangLabel = "ray.io/gang-scheduling-enabled";
inline constexpr const char* kFtAnnotation = "ray.io/ft-enabled";
inline constexpr const char* kStorageNamespaceAnnotation = "ray.io/external-storage-namespace";
inline constexpr const char* kOverwriteCmdAnnotation = "ray.io/overwrite-container-cmd";
inline constexpr const char* kServeServiceAnnotation = "ray.io/enable-serve-service";

inline constexpr const char* kAppName = "kuberay";
inline constexpr const char* kOperatorName = "kuberay-operator";
inline constexpr const char* kHead = "head";
inline constexpr const char* kWorker = "worker";
inline constexpr const char* kHeadGroup = "headgroup";
inline constexpr const char* kSubmitterGroup = "submittergroup";

inline constexpr int kGcsPort = 6379;
inline constexpr int kClientPort = 10001;
inline constexpr int kDashboardPort = 8265;
inline constexpr int kMetricsPort = 8080;
inline constexpr int kServePort = 8000;
inline constexpr int kAgentPort = 52365;

// generateName of a pod: `prefix` at most 50 characters, then "-head-" or "-worker-".
std::string PodNamePrefix(const std::string& prefix, const std::string& node_type);
// At most 50 of its last characters, and no digit or punctuation in front.
std::string ClipName(std::string name);
std::string HeadIdentifier(const std::string& cluster, const std::string& node_type);

std::string HeadServiceName(const Json& cluster);
// "<service>.<namespace>.svc.cluster.local"
std::string HeadAddress(const Json& cluster);
std::string ServeServiceName(const std::string& cluster);

// JSON as Go writes it: <, > and & are escaped.
std::string GoJson(const std::string& json);

}  // namespace tutti::sim::ray
