// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_job_controller.h - RayJobs become a RayCluster and, once that is ready, a Job that submits to it.
//
// The operator's state machine, driven by events instead of its three-second polls. The Ray job itself is not run: in
// K8sJobMode it goes as its submitter goes, in HTTPMode it takes the RayJob's sim.tutti.dev/run-for.
#pragma once

#include "sim/kuberay/ray_options.h"
#include "sim/store/controller.h"

namespace tutti::sim {

class RayJobController final : public Controller {
 public:
  RayJobController(Store& store, const base::Clock& clock, KubeRayOptions options)
      : Controller(store, clock), options_(options) {}

  std::string_view name() const override { return "rayjob-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  // What became of one step. Only kWrite changes the status.
  enum class Step { kWrite, kWait };

  void Reconcile(const ObjectKey& key) override;
  void LetGo(const Json& ray_job);
  Step Advance(Json& ray_job);
  Step Begin(Json& ray_job);
  Step Initialize(Json& ray_job);
  Step Follow(Json& ray_job);
  Step TakeBack(Json& ray_job);
  Step ShutDown(Json& ray_job);
  bool SuspendIfAsked(Json& ray_job);
  bool FailIfOverdue(Json& ray_job);
  void CountAttempt(Json& ray_job);
  Object FindOrMakeCluster(const Json& ray_job);
  bool MakeSubmitter(const Json& ray_job, const Json& cluster);
  bool DeleteCluster(const Json& ray_job);
  bool DeleteSubmitter(const Json& ray_job);
  std::string JobStatus(const Json& ray_job, const Object& submitter);
  Object ClusterOf(const Json& ray_job) const;
  std::string Suffix(const Json& ray_job);

  // Constant after construction.
  const KubeRayOptions options_;
};

}  // namespace tutti::sim
