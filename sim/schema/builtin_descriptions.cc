// SPDX-License-Identifier: Apache-2.0
// What `kubectl explain` says about the fields people ask for most.
#include <map>
#include <utility>

#include "sim/schema/builtin_schema.h"

namespace tutti::sim {
namespace {

using Key = std::pair<std::string, std::string>;

const std::map<Key, std::string_view>& Descriptions() {
  static const std::map<Key, std::string_view> descriptions = {
      {{"Pod", ""}, "A group of containers that run together on one node: what a scheduler places."},
      {{"Pod", "spec"}, "What should run, and what it needs of a node."},
      {{"Pod", "status"}, "Where it stands, as the scheduler and the kubelet saw it last."},
      {{"PodSpec", ""}, "What should run, and what it needs of a node."},
      {{"PodSpec", "containers"}, "The containers that run side by side. At least one."},
      {{"PodSpec", "initContainers"},
       "Containers that run one after another before the main ones start. One with restartPolicy Always is a sidecar, "
       "which keeps running."},
      {{"PodSpec", "nodeName"}, "The node this pod is bound to. Empty until a scheduler has decided."},
      {{"PodSpec", "nodeSelector"}, "Labels that the node must have, all of them."},
      {{"PodSpec", "affinity"},
       "Rules about nodes and about other pods that this one must, or should, be near or far from."},
      {{"PodSpec", "tolerations"}, "The taints of nodes that this pod puts up with."},
      {{"PodSpec", "schedulerName"}, "The scheduler that is to place this pod."},
      {{"PodSpec", "schedulingGates"}, "While any is left, no scheduler considers this pod."},
      {{"PodSpec", "schedulingGroup"}, "The PodGroup this pod is scheduled with."},
      {{"PodSpec", "priorityClassName"}, "The PriorityClass that gives this pod its priority."},
      {{"PodSpec", "priority"}, "The priority, as its class gives it. Set by the API server."},
      {{"PodSpec", "preemptionPolicy"}, "Whether pods of lower priority may be evicted for this one."},
      {{"PodSpec", "overhead"}, "What the runtime itself needs, on top of the containers' requests."},
      {{"PodSpec", "resources"}, "Requests and limits of the pod as a whole."},
      {{"PodSpec", "topologySpreadConstraints"}, "How evenly pods like this one spread over zones, racks or nodes."},
      {{"PodSpec", "restartPolicy"}, "Whether containers are started again when they end: Always, OnFailure or Never."},
      {{"PodSpec", "terminationGracePeriodSeconds"}, "How long the containers may take to end after a delete."},
      {{"PodStatus", "phase"}, "Pending, Running, Succeeded, Failed or Unknown."},
      {{"PodStatus", "conditions"},
       "What is true of the pod by now; PodScheduled says whether and why not it has a node."},
      {{"PodStatus", "nominatedNodeName"}, "The node that is being freed for this pod."},
      {{"PodStatus", "qosClass"}, "Guaranteed, Burstable or BestEffort, from requests and limits."},
      {{"Container", "name"}, "Unique within the pod."},
      {{"Container", "image"}, "The image that runs."},
      {{"Container", "resources"}, "What it requests of a node, and what it may use at most."},
      {{"Container", "ports"}, "Ports it listens on. A hostPort is taken on the node."},
      {{"ResourceRequirements", "requests"}, "The least it needs; what scheduling counts."},
      {{"ResourceRequirements", "limits"}, "The most it may use. Requests default to it."},
      {{"ResourceRequirements", "claims"}, "Device claims of the pod that this container uses."},
      {{"Toleration", ""}, "Matches a taint by key, value and effect, and lets the pod onto nodes that carry it."},
      {{"PodSchedulingGroup", "podGroupName"}, "The PodGroup's name, in the pod's namespace."},
      {{"Node", ""}, "A machine that runs pods."},
      {{"NodeSpec", "taints"}, "What keeps pods away that do not tolerate it."},
      {{"NodeSpec", "unschedulable"}, "True after a cordon: no new pods."},
      {{"NodeStatus", "capacity"}, "What the machine has."},
      {{"NodeStatus", "allocatable"}, "What of its capacity pods may request."},
      {{"NodeStatus", "conditions"}, "Ready, and what presses on memory, disk or process ids."},
      {{"Job", ""}, "Runs pods until enough of them have succeeded."},
      {{"JobSpec", "parallelism"}, "How many pods run at a time, at most."},
      {{"JobSpec", "completions"}, "How many pods must succeed."},
      {{"JobSpec", "suspend"}, "While true, the job has no pods."},
      {{"JobSpec", "backoffLimit"}, "How many failures there may be before the job fails."},
      {{"JobSpec", "template"}, "The pods it makes."},
      {{"ReplicaSet", ""}, "Keeps a number of pods like its template."},
      {{"ReplicaSetSpec", "replicas"}, "How many pods there should be."},
      {{"Deployment", ""}, "Keeps a number of pods through ReplicaSets, and rolls out changes of its template."},
      {{"PriorityClass", ""}, "A name for a priority that pods can ask for."},
      {{"PriorityClass", "value"}, "Higher goes first, and may evict lower."},
      {{"PriorityClass", "globalDefault"}, "The class of pods that name none."},
      {{"PodGroup", ""}, "Pods that are scheduled together."},
      {{"PodGroupSpec", "schedulingPolicy"}, "All members at once (gang), or each by itself (basic)."},
      {{"GangSchedulingPolicy", "minCount"}, "The least number of pods that must start together."},
      {{"Lease", ""}, "A claim on something for a while: leadership, or a node's heartbeat."},
      {{"LeaseSpec", "holderIdentity"}, "Who holds it."},
      {{"Event", ""}, "A report about something that happened to an object."},
      {{"Namespace", ""}, "A scope for names."},
      {{"ObjectMeta", ""}, "What every object has: name, labels, owners, versions."},
      {{"ObjectMeta", "name"}, "Unique among objects of its kind in the namespace."},
      {{"ObjectMeta", "namespace"}, "The scope of the name."},
      {{"ObjectMeta", "labels"}, "Words that selectors match."},
      {{"ObjectMeta", "annotations"}, "Notes for people and tools; nothing selects by them."},
      {{"ObjectMeta", "ownerReferences"}, "Objects that this one depends on; when the last of them goes, it goes too."},
      {{"ObjectMeta", "finalizers"}, "Who still has something to do before a deleted object may go."},
      {{"ObjectMeta", "resourceVersion"}, "Changes with every write; names the state that an update is based on."},
      {{"ObjectMeta", "generation"}, "Counts changes of the spec."},
      {{"PodDisruptionBudget", ""}, "How many pods of a set evictions must leave alone."},
  };
  return descriptions;
}

constexpr std::pair<const char*, std::string_view> kCommon[] = {
    {"apiVersion", "The API group and version this object is written in."},
    {"kind", "The kind of this object."},
    {"metadata", "Name, namespace, labels and what else every object has."},
    {"spec", "What should be."},
    {"status", "What is, as far as is known."},
};

}  // namespace

std::string_view DescriptionOf(const std::string& type, const std::string& field) {
  const auto it = Descriptions().find({type, field});
  if (it != Descriptions().end()) return it->second;
  for (const auto& [name, text] : kCommon) {
    if (field == name) return text;
  }
  return "";
}

}  // namespace tutti::sim
