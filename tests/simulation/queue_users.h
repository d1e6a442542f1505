// SPDX-License-Identifier: Apache-2.0
// QueueUsers: what users of Kueue's queues do. Jobs, groups of pods and RayClusters wait for quota there, change and go.
// Administrators give quota, take it, and stop queues.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sim/store/store.h"
#include "tests/simulation/scenario.h"

namespace tutti::simulation {

class QueueUsers {
 public:
  QueueUsers(const Scenario& scenario, sim::Store& store) : scenario_(scenario), store_(store) {}

  static std::vector<std::string> Names();
  // Tells whether the scenario has them.
  static bool AreIn(const Scenario& scenario);
  static bool Knows(std::string_view name) { return Actions().contains(name); }

  // Makes Kueue's kinds, the flavors and the queues. REQUIRES: AreIn.
  void Setup(base::Random& random);
  // Does one action, as Workload::Do does. `full`: nothing more may arrive.
  std::string Do(const std::string& name, base::Random& random, size_t number, bool full);
  // Starts all queues again, and raises their quotas.
  std::string RaiseQuotas(base::Random& random);
  // Makes one job leave.
  std::string Leave(base::Random& random);
  size_t jobs() const { return jobs_.size(); }

 private:
  struct Job {
    std::string name, kind;  // "Job", "RayCluster"; empty: a group of pods
    int64_t size = 1;
    sim::Json pod = nullptr;  // of a group
    int64_t made = 0;         // so many of its pods were made
  };
  using Action = std::string (QueueUsers::*)(base::Random&);
  static const std::map<std::string, Action, std::less<>>& Actions();

  std::string ArriveJob(base::Random&);
  std::string ArriveGroup(base::Random&);
  std::string ArriveRay(base::Random&);
  std::string ReplacePods(base::Random&);
  std::string Flip(base::Random&);
  std::string MoveToQueue(base::Random&);
  std::string SetPriority(base::Random&);
  std::string EditQuota(base::Random&);
  std::string EditLimits(base::Random&);
  std::string StopQueue(base::Random&);
  std::string StopLocalQueue(base::Random&);
  std::string EditWorkload(base::Random&);
  std::string DeleteWorkload(base::Random&);

  sim::Json Labels(base::Random& random) const;
  sim::Json PodSpec(base::Random& random) const;
  void MakePod(Job& job);
  Job* Pick(base::Random& random, bool with_flag = false);
  sim::Object PickWorkload(base::Random& random) const;
  sim::ApiResult<sim::Object> Modify(const Job& job, const std::function<void(sim::Json&)>& change);
  void Remove(const Job& job);

  const Scenario& scenario_;
  sim::Store& store_;
  std::vector<Job> jobs_;
  bool full_ = false;
  size_t number_ = 0;
};

}  // namespace tutti::simulation
