// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/object.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tutti::sim {
namespace {

const Json kNull;
const std::string kEmpty;
const Json kEmptyArray = Json::array();
const Json kEmptyMap = Json::object();

}  // namespace

const Json& Child(const Json& from, std::string_view key) {
  const auto* map = from.get_ptr<const Json::object_t*>();
  if (!map) return kNull;
  const auto it = map->find(key);
  return it == map->end() ? kNull : it->second;
}

const std::string& StringOf(const Json& value) {
  const auto* text = value.get_ptr<const Json::string_t*>();
  return text ? *text : kEmpty;
}

int64_t IntOf(const Json& value, int64_t fallback) {
  return value.is_number_integer() ? value.get<int64_t>() : fallback;
}

bool BoolOf(const Json& value) { return value.is_boolean() && value.get<bool>(); }

const Json& ArrayOf(const Json& value) { return value.is_array() ? value : kEmptyArray; }
const Json& MapOf(const Json& value) { return value.is_object() ? value : kEmptyMap; }

const std::string& NameOf(const Json& object) { return DigString(object, "metadata", "name"); }
const std::string& NamespaceOf(const Json& object) { return DigString(object, "metadata", "namespace"); }
const std::string& UidOf(const Json& object) { return DigString(object, "metadata", "uid"); }

const std::string& LabelOf(const Json& object, std::string_view key) {
  return DigString(object, "metadata", "labels", key);
}

const std::string& AnnotationOf(const Json& object, std::string_view key) {
  return DigString(object, "metadata", "annotations", key);
}

std::string KeyOf(const Json& object) {
  const std::string& ns = NamespaceOf(object);
  return ns.empty() ? NameOf(object) : ns + "/" + NameOf(object);
}

int64_t ResourceVersionOf(const Json& object) {
  const std::string& text = DigString(object, "metadata", "resourceVersion");
  int64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

bool IsTerminating(const Json& object) { return !Dig(object, "metadata", "deletionTimestamp").is_null(); }

bool HasFinalizer(const Json& object, std::string_view finalizer) {
  for (const Json& each : ArrayOf(Dig(object, "metadata", "finalizers"))) {
    if (StringOf(each) == finalizer) return true;
  }
  return false;
}

void DropFinalizer(Json& object, std::string_view finalizer) {
  Json kept = Json::array();
  for (const Json& each : ArrayOf(Dig(object, "metadata", "finalizers"))) {
    if (StringOf(each) != finalizer) kept.push_back(each);
  }
  object["metadata"]["finalizers"] = std::move(kept);
}

const std::string& PhaseOf(const Json& pod) { return DigString(pod, "status", "phase"); }

bool IsFinishedPod(const Json& pod) { return PhaseOf(pod) == "Succeeded" || PhaseOf(pod) == "Failed"; }

GroupVersion SplitApiVersion(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

std::string JoinApiVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

const Json& ControllerOf(const Json& object) {
  for (const Json& owner : ArrayOf(Dig(object, "metadata", "ownerReferences"))) {
    if (BoolOf(Child(owner, "controller"))) return owner;
  }
  return kNull;
}

Json ControllerReference(const Json& owner) {
  return {{"apiVersion", StringOf(Child(owner, "apiVersion"))},
          {"kind", StringOf(Child(owner, "kind"))},
          {"name", NameOf(owner)},
          {"uid", UidOf(owner)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

void SetDefault(Json& object, const char* field, Json value) {
  const Json& present = Child(object, field);
  if (present.is_null() || present == "") object[field] = std::move(value);
}

Json& ObjectAt(Json& object, const char* field) {
  Json& value = object[field];
  if (!value.is_object()) value = Json::object();
  return value;
}

const Json& ConditionOf(const Json& object, std::string_view type) {
  for (const Json& condition : ArrayOf(Dig(object, "status", "conditions"))) {
    if (DigString(condition, "type") == type) return condition;
  }
  return kNull;
}

bool IsTrue(const Json& object, std::string_view type) {
  return DigString(ConditionOf(object, type), "status") == "True";
}

Json ConditionJson(const Condition& condition, base::Millis now_ms) {
  std::vector<Json::object_t::value_type> fields;
  fields.reserve(5);
  fields.emplace_back("lastTransitionTime", base::FormatTime(now_ms));
  if (!condition.message.empty()) fields.emplace_back("message", condition.message);
  if (!condition.reason.empty()) fields.emplace_back("reason", condition.reason);
  fields.emplace_back("status", condition.status);
  fields.emplace_back("type", condition.type);
  return Json::object_t::Of(std::move(fields));
}

bool SetCondition(Json& object, const Condition& condition, base::Millis now_ms) {
  const Json& before = ConditionOf(object, condition.type);
  const bool same_status = DigString(before, "status") == condition.status && !before.is_null();
  if (same_status && DigString(before, "reason") == condition.reason &&
      DigString(before, "message") == condition.message) {
    return false;
  }
  Json next = ConditionJson(condition, now_ms);
  if (same_status) next["lastTransitionTime"] = Child(before, "lastTransitionTime");
  Json& conditions = ObjectAt(object, "status")["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const auto at =
      std::ranges::find_if(conditions, [&](const Json& each) { return DigString(each, "type") == condition.type; });
  if (at != conditions.end())
    *at = std::move(next);
  else
    conditions.push_back(std::move(next));
  return true;
}

}  // namespace tutti::sim
