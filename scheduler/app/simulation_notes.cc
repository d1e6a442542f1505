// SPDX-License-Identifier: Apache-2.0
#include "app/simulation_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

namespace tutti::app {
namespace {

using sim::Child;
using sim::DigString;
using sim::Json;

// Pods, and those whose controller the embedded cluster has.
constexpr std::array<std::string_view, 6> kWorkedOff = {"Pod", "Deployment", "ReplicaSet",
                                                        "Job", "RayCluster", "RayJob"};
// Kinds that are kept and shown but change nothing here, and what they would have changed.
constexpr std::pair<std::string_view, std::string_view> kWithoutEffect[] = {
    {"ResourceQuota", "what exceeds it is not refused"},
    {"HorizontalPodAutoscaler", "replicas stay as they are written"},
    {"RuntimeClass", "its overhead and its nodes are not added to pods"},
    {"ValidatingAdmissionPolicy", "nothing is refused by it"},
    {"ValidatingWebhookConfiguration", "it is not called"},
    {"MutatingWebhookConfiguration", "it is not called"}};
constexpr size_t kNamesShown = 3;

// Whether containers are listed anywhere in it.
bool HasPodTemplate(const Json& value) {
  if (value.is_array()) return std::ranges::any_of(value, HasPodTemplate);
  if (!value.is_object()) return false;
  if (Child(value, "containers").is_array()) return true;
  for (const auto& [key, item] : value.items()) {
    if (HasPodTemplate(item)) return true;
  }
  return false;
}

// "a, b, c and 4 more"
std::string Some(std::vector<std::string> names) {
  const size_t more = names.size() - std::min(names.size(), kNamesShown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more ? fmt::format(" and {} more", more) : "");
}

void AddKindsWithoutController(const sim::Store& store, std::vector<std::string>& notes) {
  for (const auto& [id, resource] : store.resources().All()) {
    if (std::ranges::find(kWorkedOff, resource.kind) != kWorkedOff.end() && id.group != "batch.volcano.sh") continue;
    std::vector<std::string> names;
    store.ForEach(id, [&](const auto&, const sim::Object& object) {
      if (HasPodTemplate(Child(*object, "spec"))) names.push_back(sim::KeyOf(*object));
    });
    if (names.empty()) continue;
    notes.push_back(fmt::format("the embedded cluster has no controller for the kind {}: no pods are made for {}",
                                resource.kind, Some(std::move(names))));
  }
}

void AddKindsWithoutEffect(const sim::Store& store, std::vector<std::string>& notes) {
  for (const auto& [kind, effect] : kWithoutEffect) {
    std::vector<std::string> names;
    for (const auto& [id, resource] : store.resources().All()) {
      if (resource.custom || resource.kind != kind) continue;
      store.ForEach(id, [&](const auto&, const sim::Object& object) {
        const bool says_nothing =
            kind == "RuntimeClass" && Child(*object, "overhead").empty() && Child(*object, "scheduling").empty();
        if (!says_nothing) names.push_back(sim::KeyOf(*object));
      });
    }
    if (!names.empty())
      notes.push_back(fmt::format("the kind {} has no effect in the embedded cluster: {}; this is so of {}", kind,
                                  effect, Some(std::move(names))));
  }
}

bool IsController(const std::string& reporter) {
  return reporter.ends_with("-controller") || reporter == "persistentvolume-binder";
}

}  // namespace

std::vector<std::string> SimulationNotes(const sim::Store& store) {
  std::vector<std::string> notes;
  AddKindsWithoutController(store, notes);
  AddKindsWithoutEffect(store, notes);
  // A retry says the same again, of a pod of another name.
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<std::string, std::string>> last;
  store.ForEach(sim::kEvents, [&](const auto&, const sim::Object& event) {
    if (DigString(*event, "type") != "Warning" || !IsController(DigString(*event, "reportingComponent"))) return;
    const Json& about = Child(*event, "involvedObject");
    const std::string key = fmt::format("{}/{}", DigString(about, "namespace"), DigString(about, "name"));
    auto& [time, note] = last[{DigString(about, "kind"), key, DigString(*event, "reason")}];
    if (DigString(*event, "eventTime") < time) return;
    time = DigString(*event, "eventTime");
    note = DigString(*event, "message");
  });
  for (const auto& [key, said] : last) {
    const auto& [kind, name, reason] = key;
    notes.push_back(fmt::format("{} {}: {}: {}", kind, name, reason, said.second));
  }
  return notes;
}

}  // namespace tutti::app
