// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/writes.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "dialects/fields.h"
#include "dialects/kueue/queue_status.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::DesiredObject;

namespace {

const Json& FinalizersOf(const model::Object& object) { return ListIn(Field(*object.body, "metadata"), "finalizers"); }

}  // namespace

DesiredObject WithFields(const std::shared_ptr<const model::Object>& object, Json fields) {
  DesiredObject desired{
      .ref = cluster::RefOf(object), .fields = std::move(fields), .agree = AgreesWithoutTimes, .seen = object};
  desired.ref.resource_version = object->meta.resource_version;
  return desired;
}

bool HasFinalizer(const model::Object& object, std::string_view finalizer) {
  return std::ranges::any_of(FinalizersOf(object), [&](const Json& each) { return each == finalizer; });
}

DesiredObject WithoutFinalizer(const std::shared_ptr<const model::Object>& object, std::string_view finalizer) {
  Json others = Json::array();
  for (const Json& each : FinalizersOf(*object))
    if (each != finalizer) others.push_back(each);
  return WithFields(object, {{"metadata", {{"finalizers", std::move(others)}}}});
}

}  // namespace tutti::dialects::kueue
