// SPDX-License-Identifier: Apache-2.0
// A rig whose gangs are Volcano's PodGroups.
#pragma once

#include "dialects/volcano.h"
#include "sim/manifests/manifest.h"
#include "tests/core/rig.h"

namespace tutti::core {

inline const sim::GroupResource kGroups{"scheduling.volcano.sh", "podgroups"},
    kQueues{"scheduling.volcano.sh", "queues"};

// A rig with the CRDs. Its gangs are PodGroups, which any dialect may read.
struct GroupRig : Rig {
  GroupRig() {
    static const auto definitions = sim::LoadManifests({TUTTI_SOURCE_DIR "/manifests/crds"});
    REQUIRE(definitions);
    for (const sim::Manifest& each : *definitions) REQUIRE(store.Create(each.object));
  }
  void PutGroup(const std::string& name, const sim::Json& spec, const sim::Json& annotations = sim::Json::object()) {
    REQUIRE(store.Create({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                          {"kind", "PodGroup"},
                          {"metadata", {{"name", name}, {"namespace", "default"}, {"annotations", annotations}}},
                          {"spec", spec}}));
  }
  void PutQueue(const std::string& name, const sim::Json& spec) {
    REQUIRE(store.Create({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                          {"kind", "Queue"},
                          {"metadata", {{"name", name}}},
                          {"spec", spec}}));
  }
};

struct VolcanoRig : GroupRig {
  explicit VolcanoRig(std::vector<std::string> names = {"tutti", "volcano"}) {
    scheduler_names = std::move(names);
    make_dialects = [] {
      dialects::DialectList dialects;
      dialects.push_back(std::make_unique<dialects::Volcano>());
      return dialects;
    };
    fate = [this](const cluster::Command& command) {
      if (const auto* patch = std::get_if<cluster::Patch>(&command.body)) writes += patch->object.kind == "PodGroup";
      const auto* event = std::get_if<cluster::EmitEvent>(&command.body);
      if (event && event->warning && event->regarding.kind == "PodGroup")
        said.push_back(fmt::format("{} {} {}: {}", event->reporting_controller, event->regarding.name(), event->reason,
                                   event->note));
      return sim::Fate{};
    };
    Restart();
    AddNode("n1", 16);
  }

  void AddQueue(const std::string& name, int cpu) {
    PutQueue(name, {{"weight", 1}, {"capability", {{"cpu", std::to_string(cpu)}}}});
  }
  void AddGroup(const std::string& name, int min, const std::string& queue = "default",
                const sim::Json& more = sim::Json::object()) {
    sim::Json spec = {{"minMember", min}, {"queue", queue}, {"minResources", {{"cpu", std::to_string(min)}}}};
    spec.update(more);
    PutGroup(name, spec);
  }
  // Adds the pods GROUP-FROM, ... up to, but without, GROUP-TO.
  void AddMembers(const std::string& group, int from, int to) {
    for (int i = from; i < to; ++i)
      AddPod(fmt::format("{}-{}", group, i), {.annotations = {{"scheduling.k8s.io/group-name", group}}});
  }
  void DeleteMembers(const std::string& group, int from, int to) {
    for (int i = from; i < to; ++i) Delete(fmt::format("{}-{}", group, i));
  }
  sim::Json Status(const std::string& group) const {
    return sim::Child(*store.Find(kGroups, "default", group), "status");
  }
  std::string Phase(const std::string& group) const { return sim::DigString(Status(group), "phase"); }
  void DropGroup(const std::string& group) { REQUIRE(store.Delete(kGroups, "default", group)); }

  std::vector<std::string> said;  // warnings about PodGroups
  int writes = 0;                 // of the PodGroups' statuses
};

}  // namespace tutti::core
