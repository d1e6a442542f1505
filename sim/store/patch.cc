// SPDX-License-Identifier: Apache-2.0
#include "sim/store/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

constexpr std::string_view kOrderPrefix = "$setElementOrder/";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

tl::unexpected<ApiError> Unusable() {
  return tl::make_unexpected(
      ApiError{422, "Invalid", "the server rejected our request due to an error in our request", Json::object()});
}

// What makes two elements of a list "the same one" in built-in types; other lists are replaced whole.
class MergeKeys {
 public:
  explicit MergeKeys(const ApiResource& resource) : resource_(resource) {}

  // "" when the list under `field` is atomic.
  std::string KeyFor(const std::string& field) const {
    static const std::map<std::string, std::string> keys = {
        {"containers", "name"},
        {"initContainers", "name"},
        {"ephemeralContainers", "name"},
        {"volumes", "name"},
        {"env", "name"},
        {"volumeMounts", "mountPath"},
        {"volumeDevices", "devicePath"},
        {"imagePullSecrets", "name"},
        {"hostAliases", "ip"},
        {"topologySpreadConstraints", "topologyKey"},
        {"schedulingGates", "name"},
        {"resourceClaims", "name"},
        {"conditions", "type"},
        {"addresses", "type"},
        {"ownerReferences", "uid"},
        {"secrets", "name"},
        {"podIPs", "ip"},
        {"resourceClaimStatuses", "name"},
        {"ports", "containerPort"},
    };
    if (resource_.custom) return field == "ownerReferences" ? "uid" : "";
    if (field == "ports" && resource_.id == kServices) return "port";
    const auto it = keys.find(field);
    return it == keys.end() ? "" : it->second;
  }

  // Lists of strings that are merged as sets.
  bool IsSet(const std::string& field) const { return field == "finalizers" || field == "podCIDRs"; }

 private:
  const ApiResource& resource_;
};

class StrategicMerge {
 public:
  explicit StrategicMerge(const ApiResource& resource) : keys_(resource) {}

  void MergeObject(Json& target, const Json& patch) {
    if (!target.is_object()) target = Json::object();
    if (const std::string& directive = DigString(patch, "$patch"); directive == "replace") {
      target = Json::object();
    } else if (directive == "delete") {
      target = Json::object();
      return;
    }
    RetainKeys(target, Child(patch, "$retainKeys"));
    for (const auto& [key, value] : patch.items()) {
      if (StartsWith(key, kDeletePrefix)) RemoveFromSet(target[key.substr(kDeletePrefix.size())], value);
    }
    for (const auto& [key, value] : patch.items()) {
      if (!key.empty() && key[0] == '$') continue;
      MergeField(target, key, value);
    }
    for (const auto& [key, value] : patch.items()) {
      if (!StartsWith(key, kOrderPrefix)) continue;
      const std::string field = key.substr(kOrderPrefix.size());
      if (target.contains(field)) Reorder(target[field], value, Json(target[field]), keys_.KeyFor(field));
    }
  }

 private:
  void MergeField(Json& target, const std::string& key, const Json& value) {
    if (value.is_null() || DigString(value, "$patch") == "delete") {
      target.erase(key);
    } else if (value.is_object()) {
      MergeObject(target[key], value);
    } else if (value.is_array()) {
      MergeList(target[key], value, key);
    } else {
      target[key] = value;
    }
  }

  void MergeList(Json& target, const Json& patch, const std::string& field) {
    const std::string merge_key = keys_.KeyFor(field);
    if (!target.is_array()) target = Json::array();
    if (merge_key.empty()) {
      if (!keys_.IsSet(field)) target = Json::array();
      for (const Json& item : patch) {
        if (!keys_.IsSet(field) || std::find(target.begin(), target.end(), item) == target.end())
          target.push_back(item);
      }
      return;
    }
    for (const Json& item : patch) {
      if (DigString(item, "$patch") == "replace") target = Json::array();
    }
    const Json before = target;
    for (const Json& item : patch) MergeElement(target, item, merge_key);
    Reorder(target, patch, before, merge_key);
  }

  void MergeElement(Json& list, const Json& item, const std::string& merge_key) {
    const Json& id = Child(item, merge_key);
    const std::string& directive = DigString(item, "$patch");
    if (directive == "replace" && id.is_null()) return;  // the whole list's directive
    const auto it =
        std::find_if(list.begin(), list.end(), [&](const Json& each) { return Child(each, merge_key) == id; });
    if (directive == "delete") {
      if (it != list.end()) list.erase(it);
    } else if (it != list.end()) {
      MergeObject(*it, item);
    } else {
      Json added;
      MergeObject(added, item);
      list.push_back(std::move(added));
    }
  }

  static void RetainKeys(Json& target, const Json& keep) {
    if (!keep.is_array()) return;
    for (auto it = target.begin(); it != target.end();) {
      it = std::find(keep.begin(), keep.end(), it.key()) == keep.end() ? target.erase(it) : std::next(it);
    }
  }

  static void RemoveFromSet(Json& list, const Json& gone) {
    Json kept = Json::array();
    for (const Json& item : ArrayOf(list)) {
      if (std::find(gone.begin(), gone.end(), item) == gone.end()) kept.push_back(item);
    }
    list = std::move(kept);
  }

  // Elements that the sender names go in its order. Those it does not name keep their place before the ones that
  // followed them so far; what is new to the server comes first. `before` is not `list`, which changes.
  static void Reorder(Json& list, const Json& order, const Json& before, const std::string& merge_key) {
    if (!list.is_array() || !order.is_array()) return;
    const auto id = [&](const Json& item) { return merge_key.empty() ? item : Child(item, merge_key); };
    const auto position = [&](const Json& in, const Json& item) {
      const auto it = std::find_if(in.begin(), in.end(), [&](const Json& each) { return id(each) == id(item); });
      return it == in.end() ? int64_t(-1) : int64_t(it - in.begin());
    };
    std::vector<Json> named, others;
    for (const Json& item : list) (position(order, item) >= 0 ? named : others).push_back(item);
    std::stable_sort(named.begin(), named.end(),
                     [&](const Json& a, const Json& b) { return position(order, a) < position(order, b); });
    list = Json::array();
    auto other = others.begin();
    for (const Json& item : named) {
      while (other != others.end() && position(before, *other) < position(before, item)) list.push_back(*other++);
      list.push_back(item);
    }
    for (; other != others.end(); ++other) list.push_back(*other);
  }

  MergeKeys keys_;
};

// A custom resource's apply: maps merge, lists and scalars are taken over.
void MergeOver(Json& target, const Json& patch) {
  if (!patch.is_object() || !target.is_object()) {
    target = patch;
    return;
  }
  for (const auto& [key, value] : patch.items()) MergeOver(target[key], value);
}

}  // namespace

ApiResult<void> ApplyPatch(const ApiResource& resource, PatchType type, const Json& patch, Json& target) {
  const Json before_kind = Child(target, "kind");
  if (type != PatchType::kJson && !patch.is_object()) {
    return tl::make_unexpected(BadRequest("the patch is not a JSON object"));
  }
  switch (type) {
    case PatchType::kJson:
      if (!patch.is_array()) return tl::make_unexpected(BadRequest("a JSON patch is an array of operations"));
      try {
        target = target.patch(patch);
      } catch (const Json::exception&) {
        return Unusable();
      }
      break;
    case PatchType::kMerge: target.merge_patch(patch); break;
    case PatchType::kStrategic: StrategicMerge(resource).MergeObject(target, patch); break;
    case PatchType::kApply:
      if (resource.custom) {
        MergeOver(target, patch);
      } else {
        StrategicMerge(resource).MergeObject(target, patch);
      }
      break;
  }
  if (!target.is_object() || !Child(target, "metadata").is_object()) return Unusable();
  if (Child(target, "kind") != before_kind) {
    return tl::make_unexpected(
        BadRequest(fmt::format("the patch changes the kind from {}", base::PrintJson(before_kind))));
  }
  return {};
}

}  // namespace tutti::sim
