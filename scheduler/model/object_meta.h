// SPDX-License-Identifier: Apache-2.0
// What every Kubernetes object has, reduced to what scheduling reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/shared.h"

namespace tutti::model {

using StringMap = std::vector<std::pair<std::string, std::string>>;  // sorted by key

// nullptr when absent.
const std::string* Find(const StringMap& map, std::string_view key);

// metadata.ownerReferences' one with controller: true.
struct OwnerReference {
  std::string kind, name, uid;
  std::string api_version = {};
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string ns;  // empty for cluster-scoped objects
  std::string name;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  base::Millis created_ms = 0;   // wall time
  base::Millis deleted_ms = -1;  // metadata.deletionTimestamp; -1 when not being deleted
  Shared<StringMap> labels;
  StringMap annotations;
  Shared<OwnerReference> controller;

  bool deleting() const { return deleted_ms >= 0; }
  // null: none.
  const OwnerReference* Controller() const { return controller == OwnerReference() ? nullptr : &*controller; }
};

}  // namespace tutti::model
