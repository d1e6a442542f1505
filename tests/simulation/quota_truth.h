// SPDX-License-Identifier: Apache-2.0
// QuotaTruth: the store's queues of Kueue, the jobs in them and their Workloads: which have quota, and how much of which
// queue. It uses none of the scheduler's code. Invariants are checked against it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/truth.h"

namespace tutti::simulation {

using TrueCell = std::pair<std::string, std::string>;  // flavor, resource
using TrueAmounts = std::map<TrueCell, int64_t>;       // thousandths

struct TrueLeaf {
  struct Limits {
    int64_t nominal = 0, borrowing = -1, lending = -1;  // -1: without end
    int64_t kept() const { return lending < 0 ? 0 : std::max<int64_t>(0, nominal - lending); }
  };
  std::string cohort;
  std::map<TrueCell, Limits> limits;
};

// A job with a queue's label, or a group of pods that has one.
struct TrueJob {
  std::string kind, name, queue;  // kind empty: a group
  bool suspended = false, ended = false, deleting = false;
  Version flipped = 0;  // the last time that `suspended` changed
};

struct TrueWorkload {
  std::string ns, name, uid;
  std::string job;  // the uid of its owner; of a group its name
  bool reserved = false, admitted = false, evicted = false, finished = false, deleting = false, active = true;
  bool stopped = false;  // since it had to leave, its job was seen to have stopped
  // It says that it has to leave, or why.
  bool leaves() const { return evicted || deleting || !active; }
  Version reserved_at = 0, changed = 0;
  std::string leaf;
  TrueAmounts uses;
  std::map<std::string, int64_t> counts;  // by pod set: so many pods have quota, and have not ended
};

class QuotaTruth {
 public:
  QuotaTruth(sim::Store& store, const Truth& truth);
  ~QuotaTruth();
  QuotaTruth(const QuotaTruth&) = delete;
  QuotaTruth& operator=(const QuotaTruth&) = delete;

  const std::map<std::string, TrueWorkload>& workloads() const { return workloads_; }  // by name
  const std::map<std::string, TrueJob>& jobs() const { return jobs_; }                 // by uid; groups: by name
  const TrueWorkload* WorkloadOf(const std::string& job) const;                        // that is not finished
  const TrueJob* JobOf(const TrueWorkload& workload) const;
  // Tells whether a pod of the workload is on a node and has not ended. `seen`: that was made until then.
  bool HasBoundPods(const TrueWorkload& workload, Version seen) const;
  // Tells whether pods of a group are missing that its users are to make.
  bool LacksPods(const TrueWorkload& workload) const;
  Version queues_changed() const { return queues_changed_; }

  // Workloads that were given quota since the last call, each with the limit that was broken by that; empty: none.
  struct Given {
    std::string workload, broken;
    std::vector<std::string> holders;  // of the quota that is too little
  };
  std::vector<Given> TakeGiven() { return std::exchange(given_, {}); }
  // Two Workloads that had quota for one job at a time; empty: there were none.
  const std::string& twice() const { return twice_; }

 private:
  void OnLeaf(const sim::WatchEvent& event);
  void OnJob(const sim::WatchEvent& event);
  void OnPod(const sim::WatchEvent& event);
  void OnWorkload(const sim::WatchEvent& event);
  void NoteStopped(TrueWorkload& workload);
  // It has quota, and nothing that its scheduler could wait for has happened that frees it.
  bool Holds(const TrueWorkload& workload) const;
  void FindBroken(const TrueWorkload& workload, Given* given) const;
  // Returns which limit of the ClusterQueue does not hold with so much in use; empty: none.
  std::string BrokenIn(const std::string& name, const TrueCell& cell, const std::map<std::string, int64_t>& used) const;

  sim::Store& store_;
  const Truth& truth_;
  int64_t subscription_;
  std::map<std::string, TrueLeaf> leaves_;
  std::map<std::string, TrueJob> jobs_;
  std::map<std::string, TrueWorkload> workloads_;
  std::map<std::string, std::set<std::string>> group_pods_;  // by group: uids of pods that are there
  Version queues_changed_ = 0;
  std::vector<Given> given_;
  std::string twice_;
};

}  // namespace tutti::simulation
