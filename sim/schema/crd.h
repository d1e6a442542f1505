// SPDX-License-Identifier: Apache-2.0
// sim/schema/crd.h - CustomResourceDefinitions: from the object to the resource it serves.
//
// Conversion between versions is strategy None (only apiVersion differs); webhooks
// are not called.
#pragma once

#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// Keeps a definition until its objects are gone.
inline constexpr const char* kDefinitionFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// REQUIRES: ValidateDefinition found nothing wrong with it.
ApiResource ResourceOfDefinition(const Json& definition);

// Defaults, and the status that says its names are accepted and it is established.
void PrepareDefinition(Json& definition, base::Millis now_ms);

// Kubernetes' order of versions: v10, v2, v11beta2, v1alpha1, anything else.
bool PrefersVersion(const std::string& a, const std::string& b);

void ValidateDefinition(const Json& definition, std::vector<FieldError>& errors);

}  // namespace tutti::sim
