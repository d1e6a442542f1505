// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"
#include "kube/decode_meta.h"
#include "kube/decode_pod_spec.h"
#include "kube/field_numbers.h"
#include "model/list_limit.h"

namespace tutti::kube {
namespace {

void DecodeCondition(std::string_view message, model::Pod* pod, std::optional<bool>* infeasible_resize) {
  std::string_view type, status, turned, reason, text;
  int64_t generation = 0;
  using F = field::PodCondition;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kType: type = r.bytes(); break;
      case F::kStatus: status = r.bytes(); break;
      case F::kLastTransitionTime: turned = r.bytes(); break;
      case F::kReason: reason = r.bytes(); break;
      case F::kMessage: text = r.bytes(); break;
      case F::kObservedGeneration: generation = r.number(); break;
    }
  if (type == "PodScheduled") {
    pod->scheduled = {true, status == "True", std::string(reason), std::string(text), generation};
    if (pod->scheduled.status) pod->bound_ms = DecodeTime(turned);
  } else if (type == model::kDisruptionTarget) {
    pod->undo_begun = status == "True" && reason == model::kUndoReason;
    pod->preempted = status == "True" && reason == model::kPreemptionReason;
  } else if (type == model::kPreemptingCondition) {
    if (status == "True") pod->preempting = std::make_shared<const std::string>(text);
  } else if (type == "PodResizePending" && !*infeasible_resize) {
    *infeasible_resize = reason == "Infeasible";
  }
}

// Decodes PodStatus. `held` gets the resources that the pod and its containers hold; during a resize they count for a
// bound pod.
void DecodePodStatus(std::string_view message, model::Pod* pod, HeldResources* held) {
  using F = field::PodStatus;
  std::optional<bool> infeasible_resize;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kPhase: pod->phase = model::ParsePhase(r.bytes()); break;
      case F::kConditions: DecodeCondition(r.bytes(), pod, &infeasible_resize); break;
      case F::kContainerStatuses:
      case F::kInitContainerStatuses: held->container_statuses.push_back(r.bytes()); break;
      case F::kStartTime: pod->started_ms = DecodeTime(r.bytes()); break;
      case F::kNominatedNodeName: pod->nominated_node = r.text(); break;
      case F::kAllocatedResources: held->pod_allocated.push_back(r.bytes()); break;
      case F::kResources: held->pod_resources = r.bytes(); break;
    }
  held->infeasible_resize = infeasible_resize.value_or(false);
}

void DecodeClaim(std::string_view volume, model::Pod* pod) {
  if (model::Full(pod->claims)) return;
  using F = field::VolumeSource;
  const auto text = [](std::string_view from, uint32_t number) { return std::string(FindBytes(from, number)); };
  for (WireReader r(FindBytes(volume, field::Volume::kVolumeSource)); r.Next();) switch (r.field()) {
      case F::kPersistentVolumeClaim:
        pod->claims.push_back({text(r.bytes(), field::PersistentVolumeClaimVolumeSource::kClaimName), false});
        break;
      case F::kEphemeral:
        pod->claims.push_back({pod->meta.name + "-" + text(volume, field::Volume::kName), true});
        break;
    }
}

void DecodePodOwnSpec(std::string_view spec, model::Pod* pod) {
  using F = field::PodSpec;
  for (WireReader r(spec); r.Next();) switch (r.field()) {
      case F::kVolumes: DecodeClaim(r.bytes(), pod); break;
      case F::kActiveDeadlineSeconds: pod->run_limit_ms = model::RunLimit(r.number()); break;
      case F::kNodeName: pod->node_name = r.text(); break;
      case F::kSchedulingGates:
        pod->scheduling_gates.emplace_back(FindBytes(r.bytes(), field::PodSchedulingGate::kName));
        break;
      case F::kSchedulingGroup:
        pod->scheduling_group = std::string(FindBytes(r.bytes(), field::PodSchedulingGroup::kPodGroupName));
        break;
    }
}

}  // namespace

std::shared_ptr<const model::Pod> DecodePod(std::string_view message, SpecCache* specs) {
  auto pod = std::make_shared<model::Pod>();
  std::string_view spec;
  HeldResources held;
  WireReader r(message);
  while (r.Next()) switch (r.field()) {
      case field::Pod::kMetadata: pod->meta = DecodeMeta(r.bytes()); break;
      case field::Pod::kSpec: spec = r.bytes(); break;
      case field::Pod::kStatus: DecodePodStatus(r.bytes(), pod.get(), &held); break;
    }
  specs->Share(&pod->meta);
  DecodePodOwnSpec(spec, pod.get());
  if (!pod->bound()) held = {};
  held.bound = pod->bound();

  thread_local std::string key;  // reuses its memory for each pod
  key.clear();
  AppendSpecKey(spec, held, &key);
  pod->spec = specs->Find(key);
  if (pod->spec == nullptr) pod->spec = specs->Put(key, DecodePodSpec(spec, held));
  return pod;
}

}  // namespace tutti::kube
