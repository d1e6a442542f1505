// SPDX-License-Identifier: Apache-2.0
#include "sim/store/resource_quotas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/quantity.h"
#include "sim/store/store.h"

namespace tutti::sim {
namespace {

using Amounts = std::map<std::string, int64_t>;

// Of the API server's resources without a group, those whose objects are counted by their plain name.
constexpr std::string_view kCounted[] = {
    "services", "configmaps", "secrets", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas"};
// What every container has to ask for, where a quota limits it.
constexpr std::string_view kAsked[] = {"cpu", "memory"};

int64_t Milli(const Json& quantity) {
  if (quantity.is_number_integer()) return model::SaturatingMul(1'000, quantity.get<int64_t>());
  const auto read = model::ParseMilli(StringOf(quantity));
  return read ? read->value : 0;
}

bool IsOfBytes(std::string_view name) {
  return name.ends_with("memory") || name.ends_with("storage") || name.find("hugepages-") != name.npos;
}

std::string Text(std::string_view name, int64_t milli) {
  return IsOfBytes(name) ? model::FormatBytes(milli / 1'000) : model::FormatCpu(milli);
}

void AddAll(const Amounts& amounts, int64_t sign, Amounts* to) {
  for (const auto& [name, amount] : amounts) {
    int64_t& sum = (*to)[name];
    sum = model::SaturatingAdd(sum, sign * amount);
  }
}

void RaiseTo(const Amounts& amounts, Amounts* to) {
  for (const auto& [name, amount] : amounts) (*to)[name] = std::max((*to)[name], amount);
}

Amounts AmountsIn(const Json& of, const char* list) {
  Amounts amounts;
  for (const auto& [name, amount] : MapOf(Dig(of, "resources", list)).items()) amounts[name] = Milli(amount);
  return amounts;
}

// What the pod asks for, or may have at most: of its containers together, or of one that runs before them if that is
// more, with the sidecars that run by then. What the pod as a whole says counts in place of that.
Amounts SumOf(const Json& pod, const char* list) {
  const Json& spec = Child(pod, "spec");
  Amounts sum, sidecars, most_before;
  for (const Json& container : ArrayOf(Child(spec, "initContainers"))) {
    Amounts by_then = sidecars;
    AddAll(AmountsIn(container, list), +1, &by_then);
    if (DigString(container, "restartPolicy") == "Always") sidecars = by_then;
    RaiseTo(by_then, &most_before);
  }
  sum = sidecars;
  for (const Json& container : ArrayOf(Child(spec, "containers"))) AddAll(AmountsIn(container, list), +1, &sum);
  RaiseTo(most_before, &sum);
  for (const auto& [name, amount] : AmountsIn(spec, list)) sum[name] = amount;
  return sum;
}

bool IsNative(std::string_view name) { return name.find('/') == name.npos; }

void AddUsesOfPod(const Json& pod, Amounts* uses) {
  if (IsFinishedPod(pod)) return;
  (*uses)["pods"] = 1'000;
  for (const auto& [name, amount] : SumOf(pod, "requests")) {
    (*uses)["requests." + name] = amount;
    if (IsNative(name)) (*uses)[name] = amount;
  }
  for (const auto& [name, amount] : SumOf(pod, "limits")) (*uses)["limits." + name] = amount;
}

void AddUsesOfService(const Json& service, Amounts* uses) {
  const std::string& type = DigString(service, "spec", "type");
  const int64_t ports = type == "NodePort" || type == "LoadBalancer"
                            ? static_cast<int64_t>(ArrayOf(Dig(service, "spec", "ports")).size())
                            : 0;
  (*uses)["services.nodeports"] = 1'000 * ports;
  (*uses)["services.loadbalancers"] = type == "LoadBalancer" ? 1'000 : 0;
}

void AddUsesOfClaim(const Json& claim, Amounts* uses) {
  const int64_t asked = Milli(Dig(claim, "spec", "resources", "requests", "storage"));
  (*uses)["requests.storage"] = asked;
  const std::string& of = DigString(claim, "spec", "storageClassName");
  if (of.empty()) return;
  (*uses)[of + ".storageclass.storage.k8s.io/requests.storage"] = asked;
  (*uses)[of + ".storageclass.storage.k8s.io/persistentvolumeclaims"] = 1'000;
}

Amounts UsesOf(const GroupResource& resource, const Json& object) {
  Amounts uses;
  uses["count/" + resource.resource + (resource.group.empty() ? "" : "." + resource.group)] = 1'000;
  if (!resource.group.empty()) return uses;
  if (resource == kPods) AddUsesOfPod(object, &uses);
  if (std::ranges::find(kCounted, resource.resource) != std::end(kCounted)) uses[resource.resource] = 1'000;
  if (resource == kServices) AddUsesOfService(object, &uses);
  if (resource == kClaims) AddUsesOfClaim(object, &uses);
  return uses;
}

bool IsBestEffort(const Json& pod) { return SumOf(pod, "requests").empty() && SumOf(pod, "limits").empty(); }

bool IsIn(const std::string& text, const Json& values) {
  return std::ranges::any_of(ArrayOf(values), [&](const Json& value) { return value == text; });
}

// `selector`: an entry of scopeSelector.matchExpressions, or null for one of spec.scopes.
bool IsOfScope(const Json& pod, const std::string& scope, const Json& selector) {
  const bool ends = Dig(pod, "spec", "activeDeadlineSeconds").is_number();
  if (scope == "Terminating") return ends;
  if (scope == "NotTerminating") return !ends;
  if (scope == "BestEffort") return IsBestEffort(pod);
  if (scope == "NotBestEffort") return !IsBestEffort(pod);
  if (scope != "PriorityClass") return false;
  const std::string& of = DigString(pod, "spec", "priorityClassName");
  const std::string& word = DigString(selector, "operator");
  if (word == "In") return IsIn(of, Child(selector, "values"));
  if (word == "NotIn") return !IsIn(of, Child(selector, "values"));
  return word == "DoesNotExist" ? of.empty() : !of.empty();
}

// Whether the quota is for such an object. One with scopes is for pods alone.
bool Takes(const Json& quota, const GroupResource& resource, const Json& object) {
  const Json& scopes = Dig(quota, "spec", "scopes");
  const Json& selectors = Dig(quota, "spec", "scopeSelector", "matchExpressions");
  if (scopes.empty() && selectors.empty()) return true;
  if (resource != kPods) return false;
  const auto is_of = [&](const Json& scope) { return IsOfScope(object, StringOf(scope), Json()); };
  const auto fits = [&](const Json& one) { return IsOfScope(object, DigString(one, "scopeName"), one); };
  return std::ranges::all_of(ArrayOf(scopes), is_of) && std::ranges::all_of(ArrayOf(selectors), fits);
}

// "limits.cpu for: a,b; memory for: b": what containers do not say, though it is limited. Empty: nothing.
std::string Unsaid(const Json& pod, const Amounts& hard) {
  std::vector<std::string> unsaid;
  for (const auto& [name, limit] : hard) {
    const bool of_limits = name.starts_with("limits.");
    std::string_view resource = name;
    for (const std::string_view prefix : {"limits.", "requests."})
      if (resource.starts_with(prefix)) resource.remove_prefix(prefix.size());
    if (std::ranges::find(kAsked, resource) == std::end(kAsked)) continue;
    const char* list = of_limits ? "limits" : "requests";
    if (!Dig(pod, "spec", "resources", list, resource).is_null()) continue;
    std::set<std::string> containers;
    for (const char* each : {"containers", "initContainers"})
      for (const Json& container : ArrayOf(Dig(pod, "spec", each)))
        if (Dig(container, "resources", list, resource).is_null()) containers.insert(DigString(container, "name"));
    if (!containers.empty()) unsaid.push_back(fmt::format("{} for: {}", name, fmt::join(containers, ",")));
  }
  return fmt::format("{}", fmt::join(unsaid, "; "));
}

}  // namespace

void ResourceQuotas::Count(const GroupResource& resource, const Json& object, int64_t sign, Quota* quota) {
  if (!Takes(*quota->object, resource, object)) return;
  for (const auto& [name, amount] : UsesOf(resource, object))
    if (const auto used = quota->used.find(name); used != quota->used.end())
      used->second = model::SaturatingAdd(used->second, sign * amount);
}

void ResourceQuotas::FollowQuota(const WatchEvent& event) {
  const std::string &ns = NamespaceOf(*event.object), &name = NameOf(*event.object);
  if (event.type == EventType::kDeleted) {
    quotas_[ns].erase(name);
    if (quotas_[ns].empty()) quotas_.erase(ns);
    return;
  }
  Quota& quota = quotas_[ns][name];
  const bool same = quota.object && Child(*quota.object, "spec") == Child(*event.object, "spec");
  quota.object = event.object;
  if (same) return;
  quota.hard.clear();
  quota.used.clear();
  for (const auto& [what, amount] : MapOf(Dig(*event.object, "spec", "hard")).items()) {
    quota.hard[what] = Milli(amount);
    quota.used[what] = 0;
  }
  for (const auto& [id, resource] : store_.resources().All())
    if (resource.namespaced && id == resource.stored_as)
      for (const Object& object : store_.All(id, ns)) Count(id, *object, +1, &quota);
}

void ResourceQuotas::Follow(const WatchEvent& event) {
  const std::string& ns = NamespaceOf(*event.object);
  if (const auto of = quotas_.find(ns); of != quotas_.end())
    for (auto& [name, quota] : of->second) {
      if (event.previous) Count(event.resource, *event.previous, -1, &quota);
      if (event.type != EventType::kDeleted) Count(event.resource, *event.object, +1, &quota);
    }
  if (event.resource == kResourceQuotas) FollowQuota(event);
}

ApiResult<void> ResourceQuotas::Admit(const ApiResource& resource, const Json& object) const {
  const auto of = quotas_.find(NamespaceOf(object));
  if (of == quotas_.end()) return {};
  std::optional<Amounts> uses;
  for (const auto& [quota_name, quota] : of->second) {
    if (!Takes(*quota.object, resource.stored_as, object)) continue;
    if (resource.stored_as == kPods)
      if (const std::string unsaid = Unsaid(object, quota.hard); !unsaid.empty())
        return Refuse(Forbidden(resource.id, NameOf(object),
                                fmt::format("failed quota: {}: must specify {}", quota_name, unsaid)));
    if (!uses) uses = UsesOf(resource.stored_as, object);
    std::vector<std::string> asked, used, limited;
    for (const auto& [name, amount] : *uses) {
      const auto hard = quota.hard.find(name);
      if (hard == quota.hard.end() || amount == 0) continue;
      const int64_t has = quota.used.at(name);
      if (model::SaturatingAdd(has, amount) <= hard->second) continue;
      asked.push_back(name + "=" + Text(name, amount));
      used.push_back(name + "=" + Text(name, has));
      limited.push_back(name + "=" + Text(name, hard->second));
    }
    if (asked.empty()) continue;
    return Refuse(Forbidden(resource.id, NameOf(object),
                            fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota_name,
                                        fmt::join(asked, ","), fmt::join(used, ","), fmt::join(limited, ","))));
  }
  return {};
}

Json ResourceQuotas::Used(const std::string& ns, const std::string& name) const {
  Json used = Json::object();
  for (const auto& [what, amount] : quotas_.at(ns).at(name).used) used[what] = Text(what, amount);
  return used;
}

}  // namespace tutti::sim
