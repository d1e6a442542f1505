// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_seen.h"

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "base/text.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"

namespace tutti::dialects {
namespace {

using base::Json;

constexpr size_t kMostSeenConditions = 32, kLongestType = 128;

bool HoldsAnyOf(const SeenItem& item, std::initializer_list<std::string_view> types) {
  return std::ranges::any_of(
      types, [&](std::string_view type) { return std::ranges::find(item.conditions, type) != item.conditions.end(); });
}

}  // namespace

SeenItem ReadSeen(const std::shared_ptr<const model::Object>& object) {
  SeenItem item;
  item.uid = object->meta.uid;
  item.leaving = object->meta.deleting();
  if (const model::OwnerReference* controller = object->meta.Controller()) {
    item.owner = controller->uid;
    if (controller->kind == "AppWrapper") item.object = object;
  }
  const Json& status = StatusOf(*object);
  for (const Json& condition : ListIn(status, "conditions")) {
    const std::string type = TextIn(condition, "type");
    if (TextIn(condition, "status") == "True" && type.size() <= kLongestType) item.conditions.push_back(type);
    if (item.conditions.size() == kMostSeenConditions) break;
  }
  const bool ray_job = object->kind == "RayJob";
  if (ray_job)
    for (const char* key : {"jobDeploymentStatus", "jobStatus"})
      if (const std::string word = TextIn(status, key); !word.empty() && word.size() <= kLongestType)
        item.conditions.push_back(word);
  if (object->group == "ray.io") {
    item.ended = ray_job && HoldsAnyOf(item, {"Complete", "Failed"});
    return item;
  }
  item.failed = HoldsAnyOf(item, {"Failed", "JobFailed"});
  item.ended = item.failed || HoldsAnyOf(item, {"Complete", "Completed", "Succeeded"});
  return item;
}

bool HasConditionOf(const SeenItem& item, std::string_view list) {
  const std::string wanted = base::LowerCase(list);
  return std::ranges::any_of(
      item.conditions, [&](const std::string& type) { return wanted.find(base::LowerCase(type)) != wanted.npos; });
}

}  // namespace tutti::dialects
