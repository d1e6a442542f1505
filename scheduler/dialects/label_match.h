// SPDX-License-Identifier: Apache-2.0
// Selects: does a selector that some object has select these labels?
#pragma once

#include "model/object_meta.h"
#include "model/selector.h"

namespace tutti::dialects {

// An operator that is none of a label selector's selects nothing.
bool Selects(const model::LabelSelector& selector, const model::StringMap& labels);

}  // namespace tutti::dialects
