// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/limits.h"

#include <fmt/format.h>

#include "cluster/json_reader.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;

namespace {

constexpr size_t kMostBounds = 64;

model::ResourceList AmountsIn(const Json& container, std::string_view part) {
  JsonReader read;
  const Json& amounts = Field(Field(container, "resources"), part);
  const JsonField root(amounts);
  return amounts.is_object() ? read.Resources(root) : model::ResourceList();
}

}  // namespace

const model::ObjectKind& Limits::Kind() {
  static const model::ObjectKind kind{"", "limitranges", "LimitRange", {"v1"}};
  return kind;
}

bool Limits::Put(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], limits = spec["limits"];
  Range range;
  if (FewEnough(read, limits, kMostBounds))
    read.Items(limits, [&](const JsonField& limit) {
      const std::string type = read.Text(limit["type"]);
      if (type != "Container" && type != "Pod") return;
      range.push_back({type == "Pod", read.Resources(limit["min"]), read.Resources(limit["max"])});
    });
  auto& of_namespace = ranges_[object.meta.ns];
  const auto [at, fresh] = of_namespace.try_emplace(object.meta.name);
  if (!fresh && at->second == range) return false;
  at->second = std::move(range);
  return true;
}

bool Limits::Drop(std::string_view ns, std::string_view name) {
  const auto of_namespace = ranges_.find(ns);
  if (of_namespace == ranges_.end()) return false;
  const auto at = of_namespace->second.find(name);
  if (at == of_namespace->second.end()) return false;
  of_namespace->second.erase(at);
  if (of_namespace->second.empty()) ranges_.erase(of_namespace);
  return true;
}

std::string Limits::Problem(std::string_view ns, const Json& pod_sets) const {
  const auto ranges = ranges_.find(ns);
  std::string problem;
  const auto check = [&](const std::string& place, const model::ResourceList& asked, const Bounds& bounds) {
    for (const auto& [name, most] : bounds.most)
      if (problem.empty() && asked.Has(name) && asked.Get(name) > most)
        problem = fmt::format("resources didn't satisfy LimitRange constraints: {}: requests exceed the max of {}",
                              place, name);
    for (const auto& [name, least] : bounds.least)
      if (problem.empty() && asked.Has(name) && asked.Get(name) < least)
        problem = fmt::format("resources didn't satisfy LimitRange constraints: {}: requests are below the min of {}",
                              place, name);
  };
  const auto check_all = [&](const std::string& place, const model::ResourceList& asked, bool of_pod) {
    if (ranges == ranges_.end()) return;
    for (const auto& [name, range] : ranges->second)
      for (const Bounds& bounds : range)
        if (bounds.of_pod == of_pod) check(place, asked, bounds);
  };
  size_t set_index = 0;
  for (const Json& set : AsList(pod_sets)) {
    const Json& spec = Field(Field(set, "template"), "spec");
    const std::string place = fmt::format("spec.podSets[{}].template.spec", set_index++);
    model::ResourceList of_pod;
    for (const char* list : {"initContainers", "containers"}) {
      size_t index = 0;
      for (const Json& container : ListIn(spec, list)) {
        const std::string at = fmt::format("{}.{}[{}]", place, list, index++);
        model::ResourceList asked = AmountsIn(container, "requests");
        const model::ResourceList limits = AmountsIn(container, "limits");
        for (const auto& [name, limit] : limits) {
          if (!asked.Has(name)) asked.Set(name, limit);
          if (problem.empty() && asked.Get(name) > limit)
            problem =
                fmt::format("resources validation failed: {}: requests of {} must not exceed its limits", at, name);
        }
        check_all(at, asked, false);
        if (std::string_view(list) == "containers") of_pod.AddAll(asked);
      }
    }
    check_all(place, of_pod, true);
  }
  return problem;
}

}  // namespace tutti::dialects::kueue
