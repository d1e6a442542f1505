// SPDX-License-Identifier: Apache-2.0
// base/json.h - the JSON value of all rooms: objects of the API server, patches, configuration.
#pragma once

#include <nlohmann/json.hpp>

#include "base/flat_map.h"
#include "base/json_fwd.h"

// The library moves all that a value holds into one list before it frees it, so that a deep value takes no stack. None
// here is that deep (kDeepestJson, cluster/json_text.h; kMaxDepth, sim/objects/yaml.cc): what a value holds is freed
// where it is.
template <>
inline void tutti::base::Json::json_value::destroy(value_t type) {
  switch (type) {
    case value_t::object: delete object; break;
    case value_t::array: delete array; break;
    case value_t::string: delete string; break;
    case value_t::binary: delete binary; break;
    default: break;
  }
}

namespace tutti::base {

// Freezes all objects within `value`, which must not be written to from here on: copies share them, and many threads
// may read them (base/flat_map.h).
inline void Freeze(Json& value) {
  if (auto* object = value.get_ptr<Json::object_t*>()) {
    object->Freeze([](Json& member) { Freeze(member); });
  } else if (auto* list = value.get_ptr<Json::array_t*>()) {
    for (Json& item : *list) Freeze(item);
  }
}

// Tells whether the value is an object whose copies share it.
inline bool IsFrozen(const Json& value) {
  const auto* object = value.get_ptr<const Json::object_t*>();
  return object && object->IsFrozen();
}

// Tells whether the two are one object that copies share, or both empty objects: a cheap proof that they are equal.
inline bool IsShared(const Json& a, const Json& b) {
  const auto* mine = a.get_ptr<const Json::object_t*>();
  const auto* other = b.get_ptr<const Json::object_t*>();
  return mine && other && mine->Shares(*other);
}

}  // namespace tutti::base
