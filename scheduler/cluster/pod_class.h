// SPDX-License-Identifier: Apache-2.0
// PodClass: an interned PodSpec. A thousand equal workers are one class, filtered and scored once.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/pod_spec.h"

namespace tutti::cluster {

struct PodClass {
  model::ClassId id;
  std::shared_ptr<const model::PodSpec> spec;
  // spec->requests as columns, zero amounts left out; "pods" is not in it.
  std::vector<std::pair<model::ResourceId, int64_t>> requests;
};

}  // namespace tutti::cluster
