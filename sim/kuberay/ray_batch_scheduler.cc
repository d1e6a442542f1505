// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_batch_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/json_string.h"
#include "model/quantity.h"
#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_sizes.h"

namespace tutti::sim::ray {
namespace {

const GroupResource kVolcanoPodGroups{"scheduling.volcano.sh", "podgroups"};
const GroupResource kPluginPodGroups{"scheduling.x-k8s.io", "podgroups"};
constexpr const char* kQueueLabel = "volcano.sh/queue-name";

bool IsLater(const KubeRayOptions& options) { return options.release != KubeRayRelease::k1_4; }
bool WantsGang(const Json& parent) { return !Dig(parent, "metadata", "labels", kGangLabel).is_null(); }
bool IsOfRayJob(const Json& cluster) { return LabelOf(cluster, kOriginKindLabel) == "RayJob"; }

void CopyLabel(const Json& from, const char* source, Json& pod, const char* target) {
  const Json& value = Dig(from, "metadata", "labels", source);
  if (!value.is_null()) pod["metadata"]["labels"][target] = value;
}

// --- Volcano ---

// A RayJob's cluster shares its job's group, since the later releases.
std::string VolcanoGroupName(const KubeRayOptions& options, const Json& parent) {
  const bool shared = IsLater(options) && IsOfRayJob(parent);
  return fmt::format("ray-{}-pg", shared ? LabelOf(parent, kOriginNameLabel) : NameOf(parent));
}

struct GangSize {
  int64_t members = 0;
  Json resources = Json::object();
};

GangSize SizeOf(const Json& spec) {
  if (IsAutoscaled(spec)) return {MinWorkersOfAll(spec) + 1, MinResources(spec)};
  return {DesiredWorkersOfAll(spec) + 1, DesiredResources(spec)};
}

Json VolcanoPodGroup(const KubeRayOptions& options, const Json& owner, const std::string& name, const GangSize& size) {
  Json meta = {{"name", name},
               {"namespace", NamespaceOf(owner)},
               {"ownerReferences", Json::array({ControllerReference(owner)})}};
  Json spec = {{"minMember", size.members}, {"minResources", size.resources}};
  const auto copy = [&](const char* label, const char* field) {
    if (const std::string& value = LabelOf(owner, label); !value.empty()) spec[field] = value;
  };
  copy(kQueueLabel, "queue");
  copy(kPriorityClassLabel, "priorityClassName");
  if (IsLater(options)) {
    const Json& annotations = Dig(owner, "metadata", "annotations");
    if (!annotations.empty()) meta["annotations"] = annotations;
    if (const std::string& mode = LabelOf(owner, "volcano.sh/network-topology-mode"); !mode.empty()) {
      spec["networkTopology"]["mode"] = mode;
      const std::string& tier = LabelOf(owner, "volcano.sh/network-topology-highest-tier-allowed");
      if (!tier.empty()) spec["networkTopology"]["highestTierAllowed"] = std::atoll(tier.c_str());
    }
  }
  return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
          {"kind", "PodGroup"},
          {"metadata", std::move(meta)},
          {"spec", std::move(spec)},
          {"status", {{"phase", "Pending"}}}};
}

// Only the size follows; queue and priority stay as they were made.
std::optional<std::string> SyncVolcano(Store& store, const KubeRayOptions& options, const Json& owner,
                                       const std::string& name, const GangSize& size) {
  const Object existing = store.Find(kVolcanoPodGroups, NamespaceOf(owner), name);
  if (!existing) {
    const auto created = store.Create(VolcanoPodGroup(options, owner, name, size));
    if (!created) return created.error().message;
    return std::nullopt;
  }
  const bool same = IntOf(Dig(*existing, "spec", "minMember")) == size.members &&
                    SameResources(Dig(*existing, "spec", "minResources"), size.resources);
  if (same) return std::nullopt;
  const auto changed = store.Modify(kVolcanoPodGroups, NamespaceOf(owner), name, [&](Json& next) {
    next["spec"]["minMember"] = size.members;
    next["spec"]["minResources"] = size.resources;
  });
  if (!changed) return changed.error().message;
  return std::nullopt;
}

void AddVolcanoMetadata(const KubeRayOptions& options, const Json& parent, const std::string& group, Json& pod) {
  Json& annotations = pod["metadata"]["annotations"];
  annotations["scheduling.k8s.io/group-name"] = VolcanoGroupName(options, parent);
  annotations["volcano.sh/task-spec"] = group;
  CopyLabel(parent, kQueueLabel, pod, kQueueLabel);
  if (IsLater(options)) {
    CopyLabel(parent, kPriorityClassLabel, pod, kPriorityClassLabel);
  } else if (const std::string& name = LabelOf(parent, kPriorityClassLabel); !name.empty()) {
    pod["spec"]["priorityClassName"] = name;
  }
  pod["spec"]["schedulerName"] = "volcano";
}

// --- scheduler-plugins ---

std::optional<std::string> SyncPluginPodGroup(Store& store, const KubeRayOptions& options, const Json& cluster) {
  if (IsLater(options) && IsOfRayJob(cluster))
    return "RayJob is not supported by the batch scheduler scheduler-plugins";
  if (!WantsGang(cluster) || store.Find(kPluginPodGroups, NamespaceOf(cluster), NameOf(cluster))) return std::nullopt;
  const Json& spec = Child(cluster, "spec");
  int64_t members = 1;
  for (const Json& group : Child(spec, "workerGroupSpecs")) members += IntOf(Child(group, "replicas"));
  if (IsLater(options)) members = DesiredWorkersOfAll(spec) + 1;
  Json owner = ControllerReference(cluster);
  owner.erase("controller");
  owner.erase("blockOwnerDeletion");
  const auto created = store.Create(
      {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
       {"kind", "PodGroup"},
       {"metadata",
        {{"name", NameOf(cluster)}, {"namespace", NamespaceOf(cluster)}, {"ownerReferences", Json::array({owner})}}},
       {"spec", {{"minMember", members}, {"minResources", DesiredResources(spec)}}}});
  if (!created) return "failed to create PodGroup: " + created.error().message;
  return std::nullopt;
}

// --- YuniKorn ---

using OrderedJson = nlohmann::ordered_json;

// The operator writes this annotation from Go structs: fields in the order of their declaration, not by name.
int FieldRank(const std::string& field) {
  static const char* const kOrder[] = {"minResource",
                                       "nodeSelector",
                                       "affinity",
                                       "name",
                                       "topologySpreadConstraints",
                                       "tolerations",
                                       "minMember",
                                       "nodeAffinity",
                                       "podAffinity",
                                       "podAntiAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution",
                                       "preferredDuringSchedulingIgnoredDuringExecution",
                                       "nodeSelectorTerms",
                                       "weight",
                                       "preference",
                                       "podAffinityTerm",
                                       "labelSelector",
                                       "namespaces",
                                       "topologyKey",
                                       "namespaceSelector",
                                       "matchLabelKeys",
                                       "mismatchLabelKeys",
                                       "matchLabels",
                                       "matchExpressions",
                                       "matchFields",
                                       "key",
                                       "operator",
                                       "values",
                                       "value",
                                       "effect",
                                       "tolerationSeconds"};
  const auto at = std::ranges::find(kOrder, field);
  return int(at - std::begin(kOrder));
}

OrderedJson InDeclaredOrder(const Json& value) {
  if (value.is_array()) {
    OrderedJson list = OrderedJson::array();
    for (const Json& each : value) list.push_back(InDeclaredOrder(each));
    return list;
  }
  if (!value.is_object()) return OrderedJson(value);
  std::vector<std::string> fields;
  for (const auto& [field, unused] : value.items()) fields.push_back(field);
  std::ranges::stable_sort(fields, {}, FieldRank);
  OrderedJson object = OrderedJson::object();
  for (const std::string& field : fields) object[field] = InDeclaredOrder(value[field]);
  return object;
}

Json TaskGroup(const std::string& name, int64_t members, const Json& pod_spec) {
  Json group = {{"name", name}, {"minMember", members}, {"minResource", PodResources(pod_spec)}};
  for (const char* field : {"nodeSelector", "tolerations", "affinity"}) {
    if (const Json& value = Child(pod_spec, field); !value.empty()) group[field] = value;
  }
  return group;
}

// gang: head and workers of `spec`; of later releases also a RayJob's submitter.
std::string TaskGroups(const KubeRayOptions& options, const Json& spec, const Json& submitter_spec) {
  Json groups = Json::array({TaskGroup(kHeadGroup, 1, Dig(spec, "headGroupSpec", "template", "spec"))});
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    const int64_t hosts = IsLater(options) ? std::max<int64_t>(1, IntOf(Child(group, "numOfHosts"), 1)) : 1;
    groups.push_back(TaskGroup(DigString(group, "groupName"),
                               model::SaturatingMul(IntOf(Child(group, "minReplicas")), hosts),
                               Dig(group, "template", "spec")));
  }
  if (!submitter_spec.is_null()) groups.push_back(TaskGroup(kSubmitterGroup, 1, submitter_spec));
  return GoJson(base::PrintOrdered(InDeclaredOrder(groups)));
}

void AddYunikornMetadata(const KubeRayOptions& options, const Json& parent, const std::string& group, Json& pod) {
  CopyLabel(parent, "yunikorn.apache.org/app-id", pod, "applicationId");
  CopyLabel(parent, "yunikorn.apache.org/queue", pod, "queue");
  pod["spec"]["schedulerName"] = "yunikorn";
  if (!WantsGang(parent)) return;
  const bool of_job = DigString(parent, "kind") == "RayJob";
  const Json& spec = of_job ? Dig(parent, "spec", "rayClusterSpec") : Child(parent, "spec");
  Json& annotations = pod["metadata"]["annotations"];
  annotations["yunikorn.apache.org/task-groups"] = TaskGroups(options, spec, of_job ? Child(pod, "spec") : Json());
  annotations["yunikorn.apache.org/task-group-name"] = group;
}

}  // namespace

std::optional<std::string> SyncPodGroup(Store& store, const KubeRayOptions& options, const Json& cluster) {
  if (options.batch_scheduler == BatchScheduler::kSchedulerPlugins) return SyncPluginPodGroup(store, options, cluster);
  if (options.batch_scheduler != BatchScheduler::kVolcano) return std::nullopt;
  if (IsLater(options) && IsOfRayJob(cluster)) return std::nullopt;  // its RayJob's
  return SyncVolcano(store, options, cluster, VolcanoGroupName(options, cluster), SizeOf(Child(cluster, "spec")));
}

std::optional<std::string> SyncJobPodGroup(Store& store, const KubeRayOptions& options, const Json& ray_job,
                                           const Json& cluster) {
  if (!IsLater(options)) return std::nullopt;
  const bool submits_by_job = DigString(ray_job, "spec", "submissionMode") == "K8sJobMode";
  switch (options.batch_scheduler) {
    case BatchScheduler::kSchedulerPlugins: return "RayJob is not supported by the batch scheduler scheduler-plugins";
    case BatchScheduler::kKai:
      if (submits_by_job) return "RayJob in K8sJobMode is not supported by the batch scheduler kai-scheduler";
      return std::nullopt;
    case BatchScheduler::kVolcano: break;
    default: return std::nullopt;
  }
  GangSize size;
  if (!cluster.is_null()) {
    // The submitter comes only once the cluster is ready: it is room to keep, but no member to wait for.
    size = SizeOf(Child(cluster, "spec"));
    const Json& given = Dig(ray_job, "spec", "submitterPodTemplate", "spec");
    const Json by_default = {{"cpu", "500m"}, {"memory", "200Mi"}};
    if (submits_by_job) AddResources(size.resources, given.is_null() ? by_default : PodResources(given), 1);
  }
  return SyncVolcano(store, options, ray_job, VolcanoGroupName(options, ray_job), size);
}

void AddBatchMetadata(const KubeRayOptions& options, const Json& parent, const std::string& group, Json& pod) {
  switch (options.batch_scheduler) {
    case BatchScheduler::kNone: return;
    case BatchScheduler::kVolcano: return AddVolcanoMetadata(options, parent, group, pod);
    case BatchScheduler::kSchedulerPlugins:
      if (WantsGang(parent)) pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = NameOf(parent);
      if (IsLater(options)) pod["spec"]["schedulerName"] = "scheduler-plugins-scheduler";
      return;
    case BatchScheduler::kYunikorn: return AddYunikornMetadata(options, parent, group, pod);
    case BatchScheduler::kKai:
      CopyLabel(parent, "kai.scheduler/queue", pod, "kai.scheduler/queue");
      pod["spec"]["schedulerName"] = "kai-scheduler";
      return;
  }
}

}  // namespace tutti::sim::ray
