// SPDX-License-Identifier: Apache-2.0
// The resources every cluster has, as one table.
#include "base/text.h"
#include "sim/objects/resources.h"

namespace tutti::sim {
namespace {

enum Traits : unsigned {
  kPlain = 0,
  kCluster = 1,     // not namespaced
  kStatus = 2,      // has a status subresource
  kGeneration = 4,  // counts changes of the spec
  kScale = 8,       // has a scale subresource
};

struct Row {
  const char* group;
  std::vector<std::string> versions;
  const char* plural;
  const char* kind;
  std::vector<std::string> short_names;
  unsigned traits;
  bool in_all = false;  // shown by `kubectl get all`
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"", {"v1"}, "pods", "Pod", {"po"}, kStatus | kGeneration, true},
      {"", {"v1"}, "nodes", "Node", {"no"}, kCluster | kStatus},
      {"", {"v1"}, "namespaces", "Namespace", {"ns"}, kCluster | kStatus},
      {"", {"v1"}, "events", "Event", {"ev"}, kPlain},
      {"", {"v1"}, "services", "Service", {"svc"}, kStatus, true},
      {"", {"v1"}, "endpoints", "Endpoints", {"ep"}, kPlain},
      {"", {"v1"}, "configmaps", "ConfigMap", {"cm"}, kPlain},
      {"", {"v1"}, "secrets", "Secret", {}, kPlain},
      {"", {"v1"}, "serviceaccounts", "ServiceAccount", {"sa"}, kPlain},
      {"", {"v1"}, "persistentvolumeclaims", "PersistentVolumeClaim", {"pvc"}, kStatus},
      {"", {"v1"}, "persistentvolumes", "PersistentVolume", {"pv"}, kCluster | kStatus},
      {"", {"v1"}, "replicationcontrollers", "ReplicationController", {"rc"}, kStatus | kGeneration | kScale, true},
      {"", {"v1"}, "podtemplates", "PodTemplate", {}, kGeneration},
      {"", {"v1"}, "limitranges", "LimitRange", {"limits"}, kPlain},
      {"", {"v1"}, "resourcequotas", "ResourceQuota", {"quota"}, kStatus},
      {"apps", {"v1"}, "replicasets", "ReplicaSet", {"rs"}, kStatus | kGeneration | kScale, true},
      {"apps", {"v1"}, "deployments", "Deployment", {"deploy"}, kStatus | kGeneration | kScale, true},
      {"apps", {"v1"}, "statefulsets", "StatefulSet", {"sts"}, kStatus | kGeneration | kScale, true},
      {"apps", {"v1"}, "daemonsets", "DaemonSet", {"ds"}, kStatus | kGeneration, true},
      {"apps", {"v1"}, "controllerrevisions", "ControllerRevision", {}, kPlain},
      {"batch", {"v1"}, "jobs", "Job", {}, kStatus | kGeneration, true},
      {"batch", {"v1"}, "cronjobs", "CronJob", {"cj"}, kStatus | kGeneration, true},
      {"autoscaling",
       {"v2", "v1"},
       "horizontalpodautoscalers",
       "HorizontalPodAutoscaler",
       {"hpa"},
       kStatus | kGeneration,
       true},
      {"node.k8s.io", {"v1"}, "runtimeclasses", "RuntimeClass", {}, kCluster},
      {"discovery.k8s.io", {"v1"}, "endpointslices", "EndpointSlice", {}, kGeneration},
      {"coordination.k8s.io", {"v1"}, "leases", "Lease", {}, kPlain},
      {"events.k8s.io", {"v1"}, "events", "Event", {"ev"}, kPlain},
      {"scheduling.k8s.io", {"v1"}, "priorityclasses", "PriorityClass", {"pc"}, kCluster | kGeneration},
      {"scheduling.k8s.io", {"v1alpha2"}, "podgroups", "PodGroup", {}, kStatus | kGeneration},
      {"scheduling.k8s.io", {"v1alpha2"}, "workloads", "Workload", {}, kGeneration},
      {"policy", {"v1"}, "poddisruptionbudgets", "PodDisruptionBudget", {"pdb"}, kStatus | kGeneration},
      {"storage.k8s.io", {"v1"}, "storageclasses", "StorageClass", {"sc"}, kCluster},
      {"storage.k8s.io", {"v1"}, "csinodes", "CSINode", {}, kCluster},
      {"storage.k8s.io", {"v1"}, "csidrivers", "CSIDriver", {}, kCluster},
      {"storage.k8s.io", {"v1"}, "csistoragecapacities", "CSIStorageCapacity", {}, kPlain},
      {"storage.k8s.io", {"v1"}, "volumeattachments", "VolumeAttachment", {}, kCluster | kStatus},
      {"resource.k8s.io", {"v1"}, "resourceclaims", "ResourceClaim", {}, kStatus},
      {"resource.k8s.io", {"v1"}, "resourceclaimtemplates", "ResourceClaimTemplate", {}, kPlain},
      {"resource.k8s.io", {"v1"}, "deviceclasses", "DeviceClass", {}, kCluster | kGeneration},
      {"resource.k8s.io", {"v1"}, "resourceslices", "ResourceSlice", {}, kCluster | kGeneration},
      {"networking.k8s.io", {"v1"}, "ingresses", "Ingress", {"ing"}, kStatus | kGeneration},
      {"networking.k8s.io", {"v1"}, "ingressclasses", "IngressClass", {}, kCluster | kGeneration},
      {"networking.k8s.io", {"v1"}, "networkpolicies", "NetworkPolicy", {"netpol"}, kGeneration},
      {"rbac.authorization.k8s.io", {"v1"}, "roles", "Role", {}, kPlain},
      {"rbac.authorization.k8s.io", {"v1"}, "rolebindings", "RoleBinding", {}, kPlain},
      {"rbac.authorization.k8s.io", {"v1"}, "clusterroles", "ClusterRole", {}, kCluster},
      {"rbac.authorization.k8s.io", {"v1"}, "clusterrolebindings", "ClusterRoleBinding", {}, kCluster},
      {"flowcontrol.apiserver.k8s.io", {"v1"}, "flowschemas", "FlowSchema", {}, kCluster | kStatus | kGeneration},
      {"flowcontrol.apiserver.k8s.io",
       {"v1"},
       "prioritylevelconfigurations",
       "PriorityLevelConfiguration",
       {},
       kCluster | kStatus | kGeneration},
      {"admissionregistration.k8s.io",
       {"v1"},
       "validatingadmissionpolicies",
       "ValidatingAdmissionPolicy",
       {},
       kCluster | kStatus | kGeneration},
      {"admissionregistration.k8s.io",
       {"v1"},
       "validatingadmissionpolicybindings",
       "ValidatingAdmissionPolicyBinding",
       {},
       kCluster | kGeneration},
      {"admissionregistration.k8s.io",
       {"v1"},
       "mutatingadmissionpolicies",
       "MutatingAdmissionPolicy",
       {},
       kCluster | kGeneration},
      {"admissionregistration.k8s.io",
       {"v1"},
       "mutatingadmissionpolicybindings",
       "MutatingAdmissionPolicyBinding",
       {},
       kCluster | kGeneration},
      {"admissionregistration.k8s.io",
       {"v1"},
       "validatingwebhookconfigurations",
       "ValidatingWebhookConfiguration",
       {},
       kCluster | kGeneration},
      {"admissionregistration.k8s.io",
       {"v1"},
       "mutatingwebhookconfigurations",
       "MutatingWebhookConfiguration",
       {},
       kCluster | kGeneration},
      {"apiextensions.k8s.io",
       {"v1"},
       "customresourcedefinitions",
       "CustomResourceDefinition",
       {"crd", "crds"},
       kCluster | kStatus | kGeneration},
  };
  return rows;
}

ApiResource FromRow(const Row& row) {
  ApiResource resource;
  resource.id = {row.group, row.plural};
  resource.stored_as = resource.id.group == "events.k8s.io" ? kEvents : resource.id;
  resource.kind = row.kind;
  resource.singular = base::LowerCase(resource.kind);
  resource.short_names = row.short_names;
  if (row.in_all) resource.categories = {"all"};
  if (resource.id.group == "apiextensions.k8s.io") resource.categories = {"api-extensions"};
  resource.namespaced = !(row.traits & kCluster);
  resource.tracks_generation = row.traits & kGeneration;
  for (const std::string& name : row.versions) {
    ApiVersion version;
    version.name = name;
    version.has_status = row.traits & kStatus;
    if (row.traits & kScale) {
      version.scale = std::make_shared<ScalePaths>(ScalePaths{"spec.replicas", "status.replicas", ""});
    }
    resource.versions.push_back(std::move(version));
  }
  resource.storage_version = resource.versions.front().name;
  return resource;
}

}  // namespace

std::vector<ApiResource> BuiltinResources() {
  std::vector<ApiResource> resources;
  for (const Row& row : Rows()) resources.push_back(FromRow(row));
  return resources;
}

}  // namespace tutti::sim
