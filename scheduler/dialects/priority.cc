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
  const bool is_default = read.Flag(root["globalDefault"]);
  if (!read.ok() || value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    return Drop(object.meta.name);
  const Class now{static_cast<int32_t>(value), is_default};
  if (const auto at = classes_.find(object.meta.name); at != classes_.end() && at->second == now) return false;
  Drop(object.meta.name);
  classes_.emplace(object.meta.name, now);
  if (is_default) defaults_.emplace(now.value, object.meta.name);
  return true;
}

bool PriorityClasses::Drop(std::string_view name) {
  const auto at = classes_.find(name);
  if (at == classes_.end()) return false;
  defaults_.erase({at->second.value, at->first});
  classes_.erase(at);
  return true;
}

std::optional<int32_t> PriorityClasses::Value(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  if (const auto at = classes_.find(name); at != classes_.end()) return at->second.value;
  if (name == "system-cluster-critical") return 2'000'000'000;
  if (name == "system-node-critical") return 2'000'001'000;
  return std::nullopt;
}

std::string PriorityClasses::Default() const { return defaults_.empty() ? std::string() : defaults_.begin()->second; }

}  // namespace tutti::dialects
