// SPDX-License-Identifier: Apache-2.0
// Node: one decoded node, reduced to what scheduling needs. Heartbeats leave every field as it is.
#pragma once

#include <string>
#include <vector>

#include "model/object_meta.h"
#include "model/resource_list.h"

namespace tutti::model {

struct Taint {
  std::string key, value, effect;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct ContainerImage {
  std::vector<std::string> names;
  int64_t size_bytes = 0;
  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

struct Node {
  ObjectMeta meta;
  ResourceList allocatable;  // with "pods"
  std::vector<Taint> taints;
  bool unschedulable = false;  // spec.unschedulable
  bool ready = true;           // condition Ready is True
  std::vector<ContainerImage> images;
};

}  // namespace tutti::model
