// SPDX-License-Identifier: Apache-2.0
#include "cluster/desired.h"

#include <algorithm>

namespace tutti::cluster {

bool MergeAgrees(const base::Json& fields, const base::Json& object) {
  if (!fields.is_object()) return fields == object;
  if (!object.is_object()) return false;
  const auto& in = object.get_ref<const base::Json::object_t&>();
  return std::ranges::all_of(fields.get_ref<const base::Json::object_t&>(), [&in](const auto& item) {
    const auto& [key, value] = item;
    const auto at = in.find(key);
    if (at == in.end()) return value.is_null();
    return !value.is_null() && MergeAgrees(value, at->second);
  });
}

bool DesiredObject::Agrees(const base::Json& body) const { return (agree ? agree : MergeAgrees)(fields, body); }

}  // namespace tutti::cluster
