// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"
#include "kube/decode_meta.h"
#include "kube/decode_pod_spec.h"
#include "model/list_limit.h"

namespace tutti::kube {
namespace {

void DecodeCondition(std::string_view message, model::Pod* pod, std::optional<bool>* infeasible_resize) {
  std::string_view type, status, turned, reason, text;
  int64_t generation = 0;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: type = r.bytes(); break;
      case 2: status = r.bytes(); break;
      case 4: turned = r.bytes(); break;
      case 5: reason = r.bytes(); break;
      case 6: text = r.bytes(); break;
      case 7: generation = r.number(); break;
    }
  if (type == "PodScheduled") {
    pod->scheduled = {true, status == "True", std::string(reason), std::string(text), generation};
    if (pod->scheduled.status) pod->bound_ms = DecodeTime(turned);
  } else if (type == model::kUndoCondition) {
    pod->undo_begun = status == "True" && reason == model::kUndoReason;
  } else if (type == "PodResizePending" && !*infeasible_resize) {
    *infeasible_resize = reason == "Infeasible";
  }
}

// What the pod and its containers hold goes to `held`: of a bound pod, that counts during a resize.
void DecodePodStatus(std::string_view message, model::Pod* pod, HeldResources* held) {
  std::optional<bool> infeasible_resize;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: pod->phase = model::ParsePhase(r.bytes()); break;
      case 2: DecodeCondition(r.bytes(), pod, &infeasible_resize); break;
      case 8:
      case 10: held->container_statuses.push_back(r.bytes()); break;
      case 11: pod->nominated_node = r.text(); break;
      case 19: held->pod_allocated.push_back(r.bytes()); break;
      case 20: held->pod_resources = r.bytes(); break;
    }
  held->infeasible_resize = infeasible_resize.value_or(false);
}

void DecodeClaim(std::string_view volume, model::Pod* pod) {
  if (model::Full(pod->claims)) return;
  for (WireReader r(FindBytes(volume, 2)); r.Next();) switch (r.field()) {
      case 10: pod->claims.push_back({std::string(FindBytes(r.bytes(), 1)), false}); break;
      case 29: pod->claims.push_back({pod->meta.name + "-" + std::string(FindBytes(volume, 1)), true}); break;
    }
}

void DecodePodOwnSpec(std::string_view spec, model::Pod* pod) {
  for (WireReader r(spec); r.Next();) switch (r.field()) {
      case 1: DecodeClaim(r.bytes(), pod); break;
      case 10: pod->node_name = r.text(); break;
      case 38: pod->scheduling_gates.emplace_back(FindBytes(r.bytes(), 1)); break;
      case 43: pod->scheduling_group = std::string(FindBytes(r.bytes(), 1)); break;
    }
}

}  // namespace

std::shared_ptr<const model::Pod> DecodePod(std::string_view message, SpecCache* specs) {
  auto pod = std::make_shared<model::Pod>();
  std::string_view spec;
  HeldResources held;
  WireReader r(message);
  while (r.Next()) switch (r.field()) {
      case 1: pod->meta = DecodeMeta(r.bytes()); break;
      case 2: spec = r.bytes(); break;
      case 3: DecodePodStatus(r.bytes(), pod.get(), &held); break;
    }
  specs->Share(&pod->meta);
  DecodePodOwnSpec(spec, pod.get());
  if (!pod->bound()) held = {};
  held.bound = pod->bound();

  thread_local std::string key;  // its memory is kept from pod to pod
  key.clear();
  AppendSpecKey(spec, held, &key);
  pod->spec = specs->Find(key);
  if (pod->spec == nullptr) pod->spec = specs->Put(key, DecodePodSpec(spec, held));
  return pod;
}

}  // namespace tutti::kube
