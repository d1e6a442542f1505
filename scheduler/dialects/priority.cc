// SPDX-License-Identifier: Apache-2.0
#include "dialects/priority.h"

#include <limits>

#include "cluster/json_reader.h"

namespace tutti::dialects {

model::ObjectKind PriorityClasses::Kind() { return {"scheduling.k8s.io", "priorityclasses", "PriorityClass", {"v1"}}; }

bool PriorityClasses::Put(const model::Object& object) {
  cluster::JsonReader read;
  const cluster::JsonField root(*object.body);
  const int64_t value = read.Integer(root["value"], 0);
  if (!read.ok() || value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    return Drop(object.meta.name);
  const auto [at, fresh] = values_.try_emplace(object.meta.name, static_cast<int32_t>(value));
  if (!fresh && at->second == value) return false;
  at->second = static_cast<int32_t>(value);
  return true;
}

bool PriorityClasses::Drop(std::string_view name) {
  const auto at = values_.find(name);
  if (at == values_.end()) return false;
  values_.erase(at);
  return true;
}

std::optional<int32_t> PriorityClasses::Value(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  if (const auto at = values_.find(name); at != values_.end()) return at->second;
  if (name == "system-cluster-critical") return 2'000'000'000;
  if (name == "system-node-critical") return 2'000'001'000;
  return std::nullopt;
}

}  // namespace tutti::dialects
