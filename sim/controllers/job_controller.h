// SPDX-License-Identifier: Apache-2.0
// sim/controllers/job_controller.h - batch/v1 Jobs: completions, parallelism, back-off, suspension, failure policy.
//
// As kube-controller-manager does it, finalizer tracking included: a pod is counted once, when it has finished or is
// being deleted, and kept until then. So a deleted pod counts as a failure unless podFailurePolicy ignores it.
// Not followed: FailIndex, maxFailedIndexes, successPolicy.
#pragma once

#include "sim/store/controller.h"

namespace tutti::sim {

class JobController final : public Controller {
 public:
  JobController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "job-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  struct Tally;  // of one job, its pods counted

  void Reconcile(const ObjectKey& key) override;
  std::vector<Object> PodsOf(const ObjectKey& key, const std::string& uid);
  void CountPod(const Json& job, const Json& pod, Tally& tally);
  void RemoveFinalizer(const Json& pod);
  void DecideEnd(const Json& job, Tally& tally);
  void Scale(const Json& job, Tally& tally);
  void CreatePods(const Json& job, int64_t count, Tally& tally);
  void DeletePods(const std::vector<Object>& pods, size_t count);
  void WriteStatus(const Json& job, const Tally& tally);
  void CollectWhenDue(const Json& job);

  struct Backoff {
    int failures = 0;  // since the last success
    base::Millis last_ms = 0;
  };

  ObjectIndex pods_{kPods};                 // by namespace and name of their job
  std::map<std::string, Backoff> backoff_;  // by job uid
};

}  // namespace tutti::sim
