// SPDX-License-Identifier: Apache-2.0
// Short ways to write queues and amounts.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "queue/tree.h"

namespace tutti::queue {

inline model::ResourceList Of(std::initializer_list<std::pair<const char*, int64_t>> amounts) {
  model::ResourceList list;
  for (const auto& [resource, amount] : amounts) list.Set(resource, amount);
  return list;
}
inline model::ResourceList Gpu(int64_t count) { return Of({{"gpu", count}}); }

inline QueueKey Key(const std::string& name) { return {"d", name}; }

inline model::QueueSpec Spec(const std::string& name, const std::string& parent = {}) {
  model::QueueSpec spec;
  spec.dialect = "d";
  spec.name = name;
  spec.parent = parent;
  return spec;
}

}  // namespace tutti::queue
