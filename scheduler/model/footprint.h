// SPDX-License-Identifier: Apache-2.0
// What a spec takes of memory, in bytes and about: for those who keep what a tenant may make large.
#pragma once

#include <cstddef>

#include "model/pod_spec.h"

namespace tutti::model {

size_t Footprint(const PodSpec& spec);

}  // namespace tutti::model
