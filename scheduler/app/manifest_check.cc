// SPDX-License-Identifier: Apache-2.0
#include "app/manifest_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/duration.h"
#include "base/json_string.h"
#include "model/quantity.h"
#include "sim/objects/lifetime.h"

namespace tutti::app {
namespace {

using sim::Child;
using sim::Json;

constexpr std::array<std::string_view, 5> kBuiltInGroups = {"v1", "apps/v1", "batch/v1", "", "policy/v1"};
constexpr std::array<std::string_view, 5> kQuantityMaps = {"requests", "limits", "allocatable", "capacity", "overhead"};

// Says what is wrong with `quantity`; empty: nothing.
std::string Problem(const Json& quantity) {
  const std::string text = quantity.is_string() ? quantity.get<std::string>() : base::PrintJson(quantity);
  if (!quantity.is_string() && !quantity.is_number()) return fmt::format("{} is not a quantity", text);
  const auto parsed = model::ParseMilli(text);
  if (!parsed) return fmt::format("\"{}\" is not a quantity", text);
  if (parsed->value < 0) return fmt::format("\"{}\" must be greater than or equal to 0", text);
  return "";
}

// A problem in a value, and the path of its field: ".containers[0].requests[cpu]".
struct Found {
  std::string path, problem;
};

// Finds the first problem in `value`, or nothing. `look` judges one field; it returns nullopt for a field whose own
// fields are to be judged. The path is put together on the way back.
using Look = std::optional<Found>(const std::string& key, const Json& item);
Found FirstProblem(const Json& value, Look look) {
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (Found found = FirstProblem(value[i], look); !found.problem.empty())
        return {fmt::format("[{}]{}", i, found.path), std::move(found.problem)};
    }
  }
  if (!value.is_object()) return {};
  for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) {
    std::optional<Found> known = look(key, item);
    if (Found found = known ? *std::move(known) : FirstProblem(item, look); !found.problem.empty())
      return {fmt::format(".{}{}", key, found.path), std::move(found.problem)};
  }
  return {};
}

std::optional<Found> BadQuantity(const std::string& key, const Json& item) {
  if (std::ranges::find(kQuantityMaps, key) == kQuantityMaps.end() || !item.is_object()) return std::nullopt;
  for (const auto& [resource, quantity] : item.items()) {
    const std::string problem = Problem(quantity);
    if (!problem.empty())
      return Found{fmt::format("[{}]", resource), problem + "; write it as \"500m\", \"2\" or \"4Gi\""};
  }
  return Found{};
}

std::optional<Found> BadLifetime(const std::string& key, const Json& item) {
  if (key != "annotations") return std::nullopt;
  for (const char* duration : {sim::kRunForAnnotation, sim::kStopAfterAnnotation}) {
    const std::string& text = sim::DigString(item, duration);
    if (text.empty()) continue;
    if (const auto parsed = base::ParseSpan(text); !parsed)
      return Found{fmt::format("[{}]", duration), parsed.error().message};
  }
  const std::string& code = sim::DigString(item, sim::kExitCodeAnnotation);
  uint8_t number = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), number);
  if (!code.empty() && (error != std::errc() || end != code.data() + code.size()))
    return Found{fmt::format("[{}]", sim::kExitCodeAnnotation),
                 fmt::format("\"{}\" is no exit code; write a whole number from 0 to 255", code)};
  return Found{};
}

// Returns `schema` without bounds and types. Where it lists fields, others stay unknown, because they are misspelt.
Json Loose(const Json& schema) {
  constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
  const Json& additional = Child(schema, "additionalProperties");
  const bool listed = Child(schema, "properties").is_object() || additional.is_object();
  Json out = {{kPreserve, !listed || sim::BoolOf(Child(schema, kPreserve)) || sim::BoolOf(additional)}};
  if (schema.contains("default")) out["default"] = schema["default"];
  if (additional.is_object()) out["additionalProperties"] = Loose(additional);
  if (const Json& items = Child(schema, "items"); items.is_object()) out["items"] = Loose(items);
  for (const auto& [name, property] : Child(schema, "properties").items()) out["properties"][name] = Loose(property);
  return out;
}

}  // namespace

base::Status CheckQuantities(const std::vector<sim::Manifest>& manifests) {
  for (const sim::Manifest& one : manifests) {
    const std::string& version = sim::DigString(one.object, "apiVersion");
    if (std::find(kBuiltInGroups.begin(), kBuiltInGroups.end(), version) == kBuiltInGroups.end()) continue;
    for (const char* part : {"spec", "status"}) {
      const Found found = FirstProblem(Child(one.object, part), BadQuantity);
      if (!found.problem.empty()) {
        const std::string path = part + found.path;
        return base::Invalid(fmt::format("{}: {} \"{}\": {}: {}", one.WhereIs(path), sim::DigString(one.object, "kind"),
                                         sim::NameOf(one.object), path, found.problem));
      }
    }
  }
  return {};
}

base::Status CheckLifetimes(const sim::Manifest& manifest) {
  const Found found = FirstProblem(manifest.object, BadLifetime);
  if (!found.problem.empty())
    return base::Invalid(
        fmt::format("{}: {}: {}", manifest.WhereIs(found.path.substr(1)), found.path.substr(1), found.problem));
  return {};
}

void Loosen(Json& definition) {
  for (Json& version : definition["spec"]["versions"]) {
    Json& schema = version["schema"]["openAPIV3Schema"];
    schema = Loose(schema);
    schema["type"] = "object";
  }
}

std::string BatchSchedulerAskedFor(const std::vector<sim::Manifest>& manifests) {
  for (const sim::Manifest& one : manifests) {
    const std::string& kind = sim::DigString(one.object, "kind");
    if (kind != "RayCluster" && kind != "RayJob") continue;
    const std::string& name = sim::LabelOf(one.object, "ray.io/scheduler-name");
    if (!name.empty()) return name;
  }
  return "";
}

}  // namespace tutti::app
