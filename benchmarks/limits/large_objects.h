// SPDX-License-Identifier: Apache-2.0
// Objects with one thing many times: a given number, or as many as the API server accepts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/object.h"

namespace tutti::bench {

using base::Json;

struct LargeObject {
  std::string name;
  std::function<Json(int)> with;  // makes the object with so many
  model::ObjectKind kind = {};    // without a resource: a pod
  Json member = {};               // a pod that waits for it
  size_t most_bytes = 3 * 512 * 1024;

  bool is_pod() const { return kind.resource.empty(); }
  // Returns the size that etcd stores: of a pod's protobuf, of other objects' JSON.
  size_t BytesOf(const Json& object) const;
  int Most() const;
};

std::vector<LargeObject> LargeObjects();

// Makes a pod without requests.
Json Pod();
Json With(Json object, const char* pointer, Json value);

extern const model::ObjectKind kVolcanoPodGroup;

}  // namespace tutti::bench
