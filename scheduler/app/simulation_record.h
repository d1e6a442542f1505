// SPDX-License-Identifier: Apache-2.0
// SimulationRecord: records what happened to every pod while a simulation ran, and the state at its end.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "app/simulation_summary.h"
#include "base/json.h"
#include "core/scheduler.h"
#include "observe/decision.h"
#include "sim/store/store.h"

namespace tutti::app {

class SimulationRecord {
 public:
  // Watches `store` from now on; pods that are already bound are not recorded as bound now. Both must outlive it.
  SimulationRecord(sim::Store& store, const base::Clock& clock);
  ~SimulationRecord();

  // Reads the scheduler's decisions since the last call, before they are carried out: the gang of each pod, and which
  // gangs were admitted.
  void Note(const core::Scheduler& scheduler);

  // Records what happened to a gang in a queue that gives quota before there are pods.
  void Note(const observe::Observer::QuotaStep& step);

  // Return the result; `decisions` are those at the end.
  SimulationSummary Summary(const std::vector<observe::Decision>& decisions) const;
  nlohmann::ordered_json Result(const std::vector<observe::Decision>& decisions) &&;
  // Count the gangs that were seen so far, and those that were whole once.
  size_t gangs() const { return stories_.size(); }
  size_t whole_gangs() const { return whole_gangs_; }

 private:
  using Json = nlohmann::ordered_json;

  base::Millis Now() const { return clock_.MonotonicMs() - start_ms_; }
  void NoteOne(const observe::Decision& decision);
  void TellStory(const observe::Decision& decision);
  void OnNode(const sim::WatchEvent& event);
  void CountGpus(const sim::WatchEvent& event);
  void OnPod(const sim::WatchEvent& event);
  // An entry of the timeline, for now.
  Json& AddStep(const char* action, std::string pod, std::string node, std::string gang);
  void Happened(const char* action, const sim::Json& pod, const std::string& node);
  Json PodLine(const sim::Json& pod, const observe::MemberDecision* member) const;

  sim::Store& store_;
  const base::Clock& clock_;
  const base::Millis start_ms_;
  int64_t subscription_;
  base::Millis last_event_ms_ = 0;  // when a pod was last bound, ended or was deleted; since the start
  uint64_t noted_ = 0;              // sequence number of the last decision that was read
  std::unordered_map<std::string, std::string> gang_of_;  // by pod uid: "namespace/name"
  std::set<model::GangKey> admitted_;
  std::vector<Json> timeline_;
  using Evicted = std::pair<sim::Store::Key, Json>;
  std::vector<Evicted> evicted_;  // deleted pods
  std::map<model::GangKey, SimulationSummary::Gang> stories_;
  size_t whole_gangs_ = 0;
  std::vector<SimulationSummary::GpuUse> gpus_;
};

}  // namespace tutti::app
