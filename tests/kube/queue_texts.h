// SPDX-License-Identifier: Apache-2.0
// Objects of kind Queue, of group "g", and the lines of a watch that tell of them.
#pragma once

#include <string>

#include "base/json.h"
#include "fakes.h"

namespace tutti::kube {

inline base::Json Queue(const std::string& name, const std::string& version, const std::string& uid = "") {
  return {{"apiVersion", "v1beta1"},
          {"kind", "Queue"},
          {"metadata", {{"name", name}, {"uid", uid.empty() ? "u-" + name : uid}, {"resourceVersion", version}}}};
}
inline std::string Line(const char* type, const base::Json& object) {
  return base::Json{{"type", type}, {"object", object}}.dump() + "\n";
}
inline std::string Bookmark(const std::string& version, bool end_of_list = false) {
  base::Json object = {{"kind", "Queue"}, {"metadata", {{"resourceVersion", version}}}};
  if (end_of_list) object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  return Line("BOOKMARK", object);
}

}  // namespace tutti::kube
