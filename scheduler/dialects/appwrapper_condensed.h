// SPDX-License-Identifier: Apache-2.0
// The short form in which articles print a wrapped RayCluster: without apiVersion, name, group names and pod templates,
// the containers standing in the groups themselves.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace tutti::dialects {

// The object in its long form; one that is in it already is returned as it is, and so is one of another kind. `name` is
// what it is called if it has no name.
base::Json InLongForm(base::Json object, const std::string& name);

}  // namespace tutti::dialects
