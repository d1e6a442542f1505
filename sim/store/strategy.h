// SPDX-License-Identifier: Apache-2.0
// sim/store/strategy.h - what each kind wants done to an object between the request and
// storage: defaults, computed fields, and what may not be written.
//
// Pure functions of their arguments but for `templates`, which remembers; the store is only read.
#pragma once

#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"
#include "sim/store/pod_templates.h"
#include "sim/store/store.h"

namespace tutti::sim {

// Where a pod's spec has containers.
inline constexpr const char* kContainerLists[] = {"initContainers", "containers"};

// Translates between a served version and the stored one.
Json ToStored(const ApiResource& resource, Json object);
Json ToServed(const ApiResource& resource, std::string_view version, const Json& stored);

// Defaults and admission. Unless `keep_status`, a status written by the caller is replaced
// by the kind's first one. 400 for what cannot be decoded, 403 as from admission (an unknown
// priority class).
ApiResult<void> PrepareForCreate(const Store& store, PodTemplates& templates, const ApiResource& resource, Json& object,
                                 bool keep_status);

// Defaults of what an update left out.
ApiResult<void> PrepareForUpdate(const Store& store, const ApiResource& resource, const Json& current, Json& next,
                                 Part part);

// `current` is null on create.
std::vector<FieldError> ValidateObject(PodTemplates& templates, const ApiResource& resource, const Json& object,
                                       const Json* current, Part part);

// --- Pods (sim/store/pod_defaults.cc, sim/store/pod_label_keys.cc, sim/store/pod_strategy.cc,
// sim/store/pod_validation.cc) ---

ApiResult<void> PreparePod(const Store& store, PodTemplates& templates, Json& pod, bool keep_status);
// Selectors with what the label keys beside them say, for a pod that is created.
void MergeLabelKeys(Json& pod);
// What a field left out means, on create and on update.
void DefaultPod(Json& pod);
// The part of it that templates get, too.
void DefaultPodSpec(Json& spec);
// `part` is not the status.
void ValidatePod(const Json& pod, const Json* current, Part part, std::vector<FieldError>& errors);
// Of pods/resize (sim/store/pod_resize.cc).
void ValidateResize(const Json& pod, const Json& current, std::vector<FieldError>& errors);
// As Kubernetes computes it from cpu and memory of all containers, or of the pod.
std::string QosClass(const Json& spec);
void ValidatePodSpec(const Json& spec, const std::string& path, std::vector<FieldError>& errors);

}  // namespace tutti::sim
