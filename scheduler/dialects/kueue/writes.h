// SPDX-License-Identifier: Apache-2.0
// What is written of an object besides its status. Pure functions.
#pragma once

#include <memory>
#include <string_view>

#include "cluster/desired.h"
#include "model/object.h"

namespace tutti::dialects::kueue {

// The fields, where the object is still of the version that they were made from.
cluster::DesiredObject WithFields(const std::shared_ptr<const model::Object>& object, base::Json fields);

bool HasFinalizer(const model::Object& object, std::string_view finalizer);
// The same finalizers but that one.
cluster::DesiredObject WithoutFinalizer(const std::shared_ptr<const model::Object>& object, std::string_view finalizer);

}  // namespace tutti::dialects::kueue
