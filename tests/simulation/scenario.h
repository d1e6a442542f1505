// SPDX-License-Identifier: Apache-2.0
// Scenario: one simulated world, read from YAML: its size, what its users do, and which faults it has.
//
//   name: nodes come and go
//   nodes: {count: 20, cpu: 8, gpu: 4}
//   most: {gangs: 50, pods: 220}     # no more arrive than these
//   standby: true                    # a second replica is ready to take over
//   preempts: true                   # pods outside gangs evict pods of lower priority
//   wire: true                       # replicas list and watch over the network, not straight from the store
//   share-by: proportion             # the rule by which queues share: proportion, capacity or capability
//   begin: 50                        # gangs that are there from the start
//   every: 12                        # steps between two actions of the workload, on average
//   rest-every: 40                   # busy turns after which time passes: up to 5 s, or more often
//   rest-ms: 200                     # up to so many milliseconds
//   workload: {arrive-volcano: 10, kill: 3}      # weights; the names are in workload.cc
//   faults: {bind-drop: 40, watch-break: 300}    # one in so many chances; the names are in faults.h
//   victims: true                    # pods leave for gangs of higher priority: a plain choice
//   gangs-preempt: true              # gangs, too, evict pods of lower priority
//   reclaim: true                    # queues take back what others have above their due
//   budgets: true                    # a PodDisruptionBudget protects pods of every other gang, and never lets one go
//   steps: 4000                      # while faults strike
//   calm-every: 1000                 # steps after which the faults stop, and the world must settle
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/options.h"

namespace tutti::simulation {

struct Scenario {
  std::string name;
  int64_t nodes = 20, cpu = 8, gpu = 4;
  int64_t most_gangs = 50, most_pods = 220;
  bool standby = false, wire = false, preempts = false;
  bool victims = false;  // lone pods of lower priority leave for gangs of high priority: tests/simulation/victims.h
  bool gangs_preempt = false, budgets = false;
  int64_t begin = 50, every = 12, rest_every = 40, rest_ms = 200;
  int64_t steps = 4000, calm_every = 1000;
  core::QueueRule queue_rule;
  std::map<std::string, int64_t> workload, faults;

  // Tells whether pods leave for gangs by the product's rules.
  bool gangs_evict() const { return gangs_preempt || queue_rule.reclaim; }
};

base::Result<Scenario> ReadScenario(const std::string& path);
// Reads every *.yaml of the folder, by name; or only the one of the name `only`.
base::Result<std::vector<Scenario>> ReadScenarios(const std::string& folder, const std::string& only = "");

}  // namespace tutti::simulation
