// SPDX-License-Identifier: Apache-2.0
// SimulationRecord: what happened to every pod while a simulation ran, and how things stand at its end.
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
  // Watches `store` from now on; what is bound already is no news. Both must outlive it.
  SimulationRecord(sim::Store& store, const base::Clock& clock);
  ~SimulationRecord();

  // What the scheduler decided since this was called last, before it is carried out: says whose gang a pod is, and
  // which gangs were admitted.
  void Note(const core::Scheduler& scheduler);

  // `decisions`: as they stand at the end.
  nlohmann::ordered_json Result(const std::vector<observe::Decision>& decisions) const;
  SimulationSummary Summary(const std::vector<observe::Decision>& decisions) const;
  // Of the gangs that were seen so far: how many, and how many of them were whole once.
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
  void Happened(const char* action, const sim::Json& pod, const std::string& node);
  Json PodLine(const sim::Json& pod, const observe::MemberDecision* member) const;

  sim::Store& store_;
  const base::Clock& clock_;
  const base::Millis start_ms_;
  int64_t subscription_;
  base::Millis last_event_ms_ = 0;  // when a pod last came to a node, ended or went, since the start
  uint64_t noted_ = 0;              // up to which change of the scheduler's decisions
  std::unordered_map<std::string, std::string> gang_of_;  // by pod uid: "namespace/name"
  std::set<model::GangKey> admitted_;
  Json timeline_ = Json::array();
  std::vector<Json> evicted_;  // pods that are no more
  std::map<model::GangKey, SimulationSummary::Gang> stories_;
  size_t whole_gangs_ = 0;
  std::vector<SimulationSummary::GpuUse> gpus_;
};

}  // namespace tutti::app
