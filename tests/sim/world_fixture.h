// SPDX-License-Identifier: Apache-2.0
// A world under a virtual clock, with short ways to fill it, and a binder that binds any pod.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/manifests/manifest.h"
#include "sim/port/world.h"
#include "tests/support/catch.h"

namespace tutti::sim {

struct WorldFixture {
  explicit WorldFixture(WorldOptions options = {}) : world(clock, std::move(options)) {}

  Store& store() { return world.store(); }

  Object Apply(Json object) {
    const auto created = store().Create(std::move(object));
    INFO((created ? "" : created.error().message));
    REQUIRE(created);
    return *created;
  }
  void ApplyYaml(const std::string& text) {
    const auto objects = ParseManifests(text, "test");
    INFO((objects ? "" : objects.error().message));
    REQUIRE(objects);
    for (const Manifest& each : *objects) Apply(each.object);
  }

  void AddNode(const std::string& name, Json allocatable = {{"cpu", "8"}, {"memory", "32Gi"}}) {
    Apply({{"apiVersion", "v1"},
           {"kind", "Node"},
           {"metadata", {{"name", name}}},
           {"status", {{"allocatable", allocatable}}}});
    world.Pump();
  }
  Object AddPod(const std::string& name, const std::string& cpu, Json annotations = Json::object()) {
    return Apply(
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", name}, {"namespace", "default"}, {"annotations", annotations}}},
         {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}});
  }

  void Bind(const std::string& pod, const std::string& node) {
    const auto bound = store().Bind(
        {{"metadata", {{"name", pod}, {"namespace", "default"}}}, {"target", {{"kind", "Node"}, {"name", node}}}});
    INFO((bound ? "" : bound.error().message));
    REQUIRE(bound);
  }
  // Binds every waiting pod to `node`.
  void BindAll(const std::string& node) {
    world.Pump();
    for (const Object& pod : store().All(kPods)) {
      if (DigString(*pod, "spec", "nodeName").empty() && !IsTerminating(*pod)) Bind(NameOf(*pod), node);
    }
    world.Pump();
  }
  void Advance(base::Millis by_ms) {
    clock.Advance(by_ms);
    world.Pump();
  }

  Object Pod(const std::string& name) { return store().Find(kPods, "default", name); }
  std::string Phase(const std::string& name) {
    const Object pod = Pod(name);
    return pod ? DigString(*pod, "status", "phase") : "gone";
  }
  std::vector<Object> Pods() { return store().All(kPods); }
  std::vector<Object> PodsLabelled(const char* label, const std::string& value) {
    std::vector<Object> found = Pods();
    std::erase_if(found, [&](const Object& pod) { return LabelOf(*pod, label) != value; });
    return found;
  }
  Object Get(const GroupResource& resource, const std::string& name) {
    const Object object = store().Find(resource, "default", name);
    INFO(resource.ToString() << " " << name);
    REQUIRE(object);
    return object;
  }
  void Modify(const GroupResource& resource, const std::string& name, const std::function<void(Json&)>& change,
              Part part = Part::kMain) {
    REQUIRE(store().Modify(resource, "default", name, change, part));
  }

  base::VirtualClock clock{1'700'000'000'000};
  World world;
};

}  // namespace tutti::sim
