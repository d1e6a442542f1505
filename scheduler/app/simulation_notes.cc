// SPDX-License-Identifier: Apache-2.0
#include "app/simulation_notes.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "sim/api/without_effect.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {
namespace {

using sim::Child;
using sim::DigString;
using sim::Json;

// Adds "SENTENCE (a, b and 2 more)" for each sentence about objects that change nothing.
void AddWithoutEffect(const sim::Store& store, const std::vector<std::string>& scheduler_names,
                      std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [id, resource] : store.resources().All()) {
    // The scheduler itself makes what an AppWrapper wraps, and the pods of a Workload are its job's.
    if (resource.kind == "AppWrapper" || resource.kind == "Workload") continue;
    store.ForEach(id, [&](const auto&, const sim::Object& object) {
      for (const std::string& line : sim::WithoutEffect(resource, *object, scheduler_names))
        names[line].push_back(sim::KeyOf(*object));
    });
  }
  for (auto& [line, of] : names) notes.push_back(fmt::format("{} ({})", line, sim::Some(std::move(of))));
}

bool IsController(const std::string& reporter) {
  return reporter.ends_with("-controller") || reporter == "persistentvolume-binder";
}

}  // namespace

std::vector<std::string> SimulationNotes(const sim::Store& store, const std::vector<std::string>& scheduler_names) {
  std::vector<std::string> notes;
  AddWithoutEffect(store, scheduler_names, notes);
  // A retry repeats the warning for a pod of another name.
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
