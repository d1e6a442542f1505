// SPDX-License-Identifier: Apache-2.0
#include "cluster/desired.h"

#include <algorithm>
#include <tuple>

namespace tutti::cluster {
namespace {

auto Identity(const ObjectRef& ref) {
  return std::tuple(ref.group, ref.version, ref.resource, ref.kind, std::string_view(ref.ns()),
                    std::string_view(ref.name()), std::string_view(ref.uid()), std::string_view(ref.resource_version));
}

}  // namespace

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

bool operator==(const DesiredObject& a, const DesiredObject& b) {
  return Identity(a.ref) == Identity(b.ref) && a.mode == b.mode && a.status == b.status && a.type == b.type &&
         a.fields == b.fields && a.agree == b.agree;
}

}  // namespace tutti::cluster
