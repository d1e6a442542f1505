// SPDX-License-Identifier: Apache-2.0
// sim/objects/object.h - API objects as JSON values, and short ways to read them.
//
// The embedded cluster keeps objects as a real API server shows them, so that
// everything kubectl can write can be stored. Keys are sorted, hence the same
// object always prints the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace tutti::sim {

using Json = base::Json;

// One version of an object. Immutable: a change makes a new one, so a reader may
// keep it for as long as it likes, on any thread.
using Object = std::shared_ptr<const Json>;

// The value under `key`, or a null when `from` is no object or lacks it.
const Json& Child(const Json& from, std::string_view key);

// Dig(pod, "spec", "nodeName"): a path of keys; null when any step is missing.
template <class... Keys>
const Json& Dig(const Json& from, const Keys&... keys) {
  const Json* at = &from;
  ((at = &Child(*at, keys)), ...);
  return *at;
}

// The string held, or "" when `value` is not a string.
const std::string& StringOf(const Json& value);
// The integer held, or `fallback` when `value` is not an integer.
int64_t IntOf(const Json& value, int64_t fallback = 0);
// True only for JSON true.
bool BoolOf(const Json& value);
// The value itself when it is an array (an object), else an empty one: safe to iterate,
// which a JSON string is not.
const Json& ArrayOf(const Json& value);
const Json& MapOf(const Json& value);

// Dig and StringOf in one: DigString(pod, "spec", "nodeName").
template <class... Keys>
const std::string& DigString(const Json& from, const Keys&... keys) {
  return StringOf(Dig(from, keys...));
}

const std::string& NameOf(const Json& object);
const std::string& NamespaceOf(const Json& object);
const std::string& UidOf(const Json& object);
const std::string& LabelOf(const Json& object, std::string_view key);
const std::string& AnnotationOf(const Json& object, std::string_view key);
// "namespace/name", or "name" where there is no namespace.
std::string KeyOf(const Json& object);
// Its metadata.resourceVersion as a number; 0 when it has none.
int64_t ResourceVersionOf(const Json& object);
// True from the DELETE on, while finalizers or a grace period keep it.
bool IsTerminating(const Json& object);
bool HasFinalizer(const Json& object, std::string_view finalizer);
void DropFinalizer(Json& object, std::string_view finalizer);

const std::string& PhaseOf(const Json& pod);
bool IsFinishedPod(const Json& pod);  // Succeeded or Failed

// "apps/v1" -> {"apps", "v1"}; "v1" -> {"", "v1"}.
struct GroupVersion {
  std::string group;
  std::string version;
};
GroupVersion SplitApiVersion(std::string_view api_version);
std::string JoinApiVersion(std::string_view group, std::string_view version);

// The controlling owner reference (controller: true), or null.
const Json& ControllerOf(const Json& object);
// An owner reference to `owner`, with controller and blockOwnerDeletion set.
Json ControllerReference(const Json& owner);

// An object of these fields: Fields("name", name, "ready", true).
template <class... KeysAndValues>
Json Fields(KeysAndValues&&... of) {
  std::vector<Json::object_t::value_type> fields;
  fields.reserve(sizeof...(of) / 2);
  const auto add = [&fields](auto&& self, auto&& key, auto&& value, auto&&... more) -> void {
    fields.emplace_back(key, std::forward<decltype(value)>(value));
    if constexpr (sizeof...(more) > 0) self(self, std::forward<decltype(more)>(more)...);
  };
  add(add, std::forward<KeysAndValues>(of)...);
  return Json::object_t::Of(std::move(fields));
}

// Sets the field where it is absent, null or an empty string, which Kubernetes holds to be the same.
void SetDefault(Json& object, const char* field, Json value);
// The field as an object, made if it is none.
Json& ObjectAt(Json& object, const char* field);

// The condition of that type in status.conditions, or null.
const Json& ConditionOf(const Json& object, std::string_view type);
bool IsTrue(const Json& object, std::string_view type);  // it has that condition, and its status is True

struct Condition {
  std::string type;
  std::string status;  // "True", "False" or "Unknown"
  std::string reason;
  std::string message;
};
// As it is written when its status becomes what it says.
Json ConditionJson(const Condition& condition, base::Millis now_ms);
// Writes the condition into `object`. lastTransitionTime moves only when the
// status does. Returns false, and changes nothing, when all is as it was.
bool SetCondition(Json& object, const Condition& condition, base::Millis now_ms);

}  // namespace tutti::sim
