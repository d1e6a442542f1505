// SPDX-License-Identifier: Apache-2.0
#include "sim/port/world.h"

#include "base/check.h"
#include "base/log.h"
#include "sim/controllers/deployment_controller.h"
#include "sim/controllers/ephemeral_volume_controller.h"
#include "sim/controllers/job_controller.h"
#include "sim/controllers/replica_set_controller.h"
#include "sim/controllers/resource_quota_controller.h"
#include "sim/controllers/stateful_set_controller.h"
#include "sim/controllers/volume_controller.h"
#include "sim/kuberay/ray_cluster_controller.h"
#include "sim/kuberay/ray_definitions.h"
#include "sim/kuberay/ray_job_controller.h"

namespace tutti::sim {
namespace {

// Rounds within one pump; two components that undo each other would go on without end.
constexpr int kMaxRounds = 10'000;

}  // namespace

World::World(const base::Clock& clock, WorldOptions options)
    : clock_(clock), store_(clock, options.seed, options.event_log) {
  const auto add = [&](auto component) {
    auto* raw = component.get();
    components_.push_back(std::move(component));
    return raw;
  };
  nodes_ = add(std::make_unique<NodeLifecycle>(store_, clock_));
  kubelet_ = add(std::make_unique<Kubelet>(store_, decoded_, clock_, options.kubelet));
  if (options.with_controllers) {
    add(std::make_unique<JobController>(store_, clock_));
    add(std::make_unique<ReplicaSetController>(store_, clock_));
    add(std::make_unique<DeploymentController>(store_, clock_));
    add(std::make_unique<StatefulSetController>(store_, clock_));
    add(std::make_unique<EphemeralVolumeController>(store_, clock_));
    add(std::make_unique<VolumeController>(store_, clock_));
    add(std::make_unique<ResourceQuotaController>(store_, clock_));
    add(std::make_unique<RayClusterController>(store_, clock_, options.kuberay));
    add(std::make_unique<RayJobController>(store_, clock_, options.kuberay));
  }
  for (const auto& component : components_) component->WriteEvents(options.events);
  subscription_ = store_.Subscribe([this](const WatchEvent& event) {
    for (const auto& component : components_) component->Observe(event);
  });
  store_.PreferGroup(options.preferred_group);
  if (!options.with_upstream_gangs) store_.StopServing("scheduling.k8s.io", "v1alpha2");
  if (!options.with_ray) return;
  for (const Json& definition : RayDefinitions()) {
    const auto created = store_.Create(definition);
    TUTTI_CHECK(created, created ? "" : created.error().message);
  }
}

World::~World() { store_.Unsubscribe(subscription_); }

bool World::Pump() {
  bool any = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    bool worked = false;
    for (const auto& component : components_) worked = component->Work() || worked;
    if (!worked) return any;
    any = true;
  }
  base::LogError("the embedded cluster does not come to rest", {{"rounds", kMaxRounds}});
  return any;
}

std::optional<base::Millis> World::NextDeadline() const {
  std::optional<base::Millis> next;
  for (const auto& component : components_) {
    const auto at = component->NextDeadline();
    if (at && (!next || *at < *next)) next = at;
  }
  return next;
}

}  // namespace tutti::sim
