// SPDX-License-Identifier: Apache-2.0
// The names of Kueue: labels, annotations, finalizers, and how it names a job's Workload.
#pragma once

#include <string>
#include <string_view>

namespace tutti::dialects::kueue {

inline constexpr std::string_view kDialect = "kueue";
inline constexpr std::string_view kGroup = "kueue.x-k8s.io";

// On a job.
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kPriorityLabel = "kueue.x-k8s.io/priority-class";
inline constexpr std::string_view kMaxTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
inline constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kElastic = "kueue.x-k8s.io/elastic-job";  // "true": it may grow while it runs
// On the pods of an elastic job that Kueue has started, and in its templates. Here they need none.
inline constexpr std::string_view kElasticGate = "kueue.x-k8s.io/elastic-job";
inline constexpr std::string_view kCompletionsFollow = "kueue.x-k8s.io/job-completions-equal-parallelism";
// On a pod that waits for quota itself.
inline constexpr std::string_view kGate = "kueue.x-k8s.io/admission";  // the scheduling gate
inline constexpr std::string_view kTopologyGate = "kueue.x-k8s.io/topology";
inline constexpr std::string_view kParent = "kueue.x-k8s.io/pod-suspending-parent";  // what its template is of
inline constexpr std::string_view kGroupName = "kueue.x-k8s.io/pod-group-name";      // a label, or an annotation
inline constexpr std::string_view kGroupTotal = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr std::string_view kGroupFast = "kueue.x-k8s.io/pod-group-fast-admission";
inline constexpr std::string_view kGroupServes = "kueue.x-k8s.io/pod-group-serving";
inline constexpr std::string_view kRoleHash = "kueue.x-k8s.io/role-hash";
inline constexpr std::string_view kRetriable = "kueue.x-k8s.io/retriable-in-group";
inline constexpr std::string_view kTerminationTarget = "TerminationTarget";  // the condition of one that has to go
inline constexpr std::string_view kRayClusterName = "rayClusterName";  // in a RayJob's status
// On what is made for a Workload; on a pod that waits for quota itself: a label, and the finalizer.
inline constexpr std::string_view kManaged = "kueue.x-k8s.io/managed";
// On a Workload.
inline constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";
inline constexpr std::string_view kInUse = "kueue.x-k8s.io/resource-in-use";  // a finalizer: until its quota is free
inline constexpr std::string_view kIsOfGroup = "kueue.x-k8s.io/is-group-workload";
inline constexpr std::string_view kReplaces = "kueue.x-k8s.io/workload-slice-replacement-for";
inline constexpr std::string_view kSliceName = "kueue.x-k8s.io/workload-slice-name";  // the first's, on all of a job
// On the pods of a job that was started.
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
inline constexpr std::string_view kClusterQueueLabel = "kueue.x-k8s.io/cluster-queue-name";
inline constexpr std::string_view kLocalQueueLabel = "kueue.x-k8s.io/local-queue-name";
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";

// Reasons of conditions.
inline constexpr std::string_view kPodsReadyTimeout = "PodsReadyTimeout";
inline constexpr std::string_view kDeactivatedBy = "DeactivatedDueTo";  // and one of these
inline constexpr std::string_view kDeactivatedByCheck = "DeactivatedDueToAdmissionCheck";
inline constexpr std::string_view kSliceReplaced = "WorkloadSliceReplaced";
inline constexpr std::string_view kOnHold = "OnHold";
inline constexpr std::string_view kReplacementWaits = "ReplacementWaits";
inline constexpr std::string_view kLacksPods = "WaitingForReplacementPods";  // a condition, too
inline constexpr std::string_view kExecutionExceeded = "MaximumExecutionTimeExceeded";
inline constexpr std::string_view kRequeuesExceeded = "RequeuingLimitExceeded";

// Why a job has to stop whose Workload is deleted. No condition says it: there is no Workload.
inline constexpr std::string_view kWorkloadDeleted = "WorkloadDeleted";

// The controller of checks that are answered by ProvisioningRequests.
inline constexpr std::string_view kProvisioning = "kueue.x-k8s.io/provisioning-request";

// The name of the Workload of a job: "rayjob-NAME-e95ec". `kind` and `group` are the job's.
std::string WorkloadName(std::string_view kind, std::string_view group, std::string_view name, std::string_view uid);

}  // namespace tutti::dialects::kueue
