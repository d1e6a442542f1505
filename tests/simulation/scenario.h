// SPDX-License-Identifier: Apache-2.0
// Scenario: what one simulated world is like: its size, what its users do and how it misbehaves; read from YAML.
//
//   name: nodes come and go
//   nodes: {count: 20, cpu: 8, gpu: 4}
//   most: {gangs: 50, pods: 220}     # nothing more arrives beyond this
//   standby: true                    # a second replica is ready to take over
//   every: 12                        # steps between two actions of the workload, on average
//   workload: {arrive-volcano: 10, kill: 3}      # weights; the names are in workload.cc
//   faults: {bind-drop: 40, watch-break: 300}    # one in so many chances; the names are in faults.h
//   steps: 4000
//   calm-every: 1000                 # then the faults stop, and the world must settle
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace tutti::simulation {

struct Scenario {
  std::string name;
  int64_t nodes = 20, cpu = 8, gpu = 4;
  int64_t most_gangs = 50, most_pods = 220;
  bool standby = false;
  int64_t every = 12;
  int64_t steps = 4000, calm_every = 1000;
  std::map<std::string, int64_t> workload, faults;
};

base::Result<Scenario> ReadScenario(const std::string& path);
// Every *.yaml of the folder, by name.
base::Result<std::vector<Scenario>> ReadScenarios(const std::string& folder);

}  // namespace tutti::simulation
