// SPDX-License-Identifier: Apache-2.0
#include "cluster/desired.h"

#include <algorithm>

namespace tutti::cluster {

bool MergeAgrees(const base::Json& fields, const base::Json& object) {
  if (!fields.is_object()) return fields == object;
  if (!object.is_object()) return false;
  return std::ranges::all_of(fields.items(), [&](const auto& item) {
    const auto at = object.find(item.key());
    if (at == object.end()) return item.value().is_null();
    return !item.value().is_null() && MergeAgrees(item.value(), *at);
  });
}

bool DesiredObject::Agrees(const base::Json& body) const { return (agree ? agree : MergeAgrees)(fields, body); }

}  // namespace tutti::cluster
