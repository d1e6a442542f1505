// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/event_conversion.h"

#include <utility>

namespace tutti::sim {
namespace {

// core/v1 name, events.k8s.io/v1 name; fields not listed are spelled the same.
constexpr std::pair<const char*, const char*> kNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void Rename(Json& object, const char* from, const char* to) {
  const auto it = object.find(from);
  if (it == object.end()) return;
  Json value = std::move(*it);
  object.erase(it);
  object[to] = std::move(value);
}

}  // namespace

Json EventToCore(Json event) {
  for (const auto& [core, modern] : kNames) Rename(event, modern, core);
  event["apiVersion"] = "v1";
  return event;
}

Json EventFromCore(const Json& core_event) {
  Json event = core_event;
  for (const auto& [core, modern] : kNames) Rename(event, core, modern);
  event["apiVersion"] = "events.k8s.io/v1";
  return event;
}

}  // namespace tutti::sim
