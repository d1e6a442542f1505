// SPDX-License-Identifier: Apache-2.0
// Objects of one thing, many times: as many as are asked for, or as many as the API server takes.
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
  std::function<Json(int)> with;  // so many of it
  model::ObjectKind kind = {};    // of no resource: a pod
  Json member = {};               // a pod that waits for it
  size_t most_bytes = 3 * 512 * 1024;

  bool is_pod() const { return kind.resource.empty(); }
  // What etcd is given: protobuf of a pod, JSON of others.
  size_t BytesOf(const Json& object) const;
  int Most() const;
};

std::vector<LargeObject> LargeObjects();

// A pod that asks for nothing.
Json Pod();
Json With(Json object, const char* pointer, Json value);

extern const model::ObjectKind kVolcanoPodGroup;

}  // namespace tutti::bench
