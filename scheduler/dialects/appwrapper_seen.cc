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
  if (const std::string* form = model::Find(object->meta.annotations, kFormAnnotation)) item.form = *form;
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

bool SeenItems::Put(const ItemName& name, const SeenItem& item) {
  const auto [at, fresh] = items_.try_emplace(name);
  if (!fresh && at->second == item) {
    at->second = item;
    return false;
  }
  if (!fresh) Forget(name, at->second);
  at->second = item;
  if (!item.owner.empty()) by_owner_[item.owner].insert(name);
  return true;
}

std::optional<std::string> SeenItems::Drop(const ItemName& name) {
  const auto gone = items_.extract(name);
  if (gone.empty()) return std::nullopt;
  Forget(name, gone.mapped());
  return CreatorOf(gone.mapped());
}

void SeenItems::Forget(const ItemName& name, const SeenItem& item) {
  const auto of = by_owner_.find(item.owner);
  if (of == by_owner_.end()) return;
  of->second.erase(name);
  if (of->second.empty()) by_owner_.erase(of);
}

const SeenItem* SeenItems::Find(const ItemName& name) const {
  const auto at = items_.find(name);
  return at == items_.end() ? nullptr : &at->second;
}

const std::set<ItemName>& SeenItems::Of(const std::string& owner) const {
  static const std::set<ItemName> none;
  const auto of = by_owner_.find(owner);
  return of == by_owner_.end() ? none : of->second;
}

std::string CreatorOf(const SeenItem& item) { return item.object ? item.object->meta.Controller()->name : ""; }

bool HasConditionOf(const SeenItem& item, std::string_view list) {
  const std::string wanted = base::LowerCase(list);
  return std::ranges::any_of(
      item.conditions, [&](const std::string& type) { return wanted.find(base::LowerCase(type)) != wanted.npos; });
}

}  // namespace tutti::dialects
