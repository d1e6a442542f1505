// SPDX-License-Identifier: Apache-2.0
// Selectors as Kubernetes' documentation has them, one requirement and one label after another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/pod_spec.h"
#include "model/selector.h"

namespace tutti::fuzz {

bool IsLabelKey(std::string_view text);
bool IsLabelText(std::string_view text);
bool IsSubdomain(std::string_view text);
std::optional<int64_t> WholeNumber(std::string_view text);

// Tells whether upstream accepts it at all.
bool Sound(const model::Requirement& requirement);
bool Sound(const model::LabelSelector& selector);

// Tells whether it selects the labels. REQUIRES: it is sound.
bool Holds(const model::Requirement& requirement, const model::StringMap& labels);
bool Selects(const model::LabelSelector& selector, const model::StringMap& labels);

// Tells whether the pod's nodeSelector and required node affinity admit the node.
bool Admits(const model::PodSpec& pod, const std::string& node, const model::StringMap& labels);

}  // namespace tutti::fuzz
