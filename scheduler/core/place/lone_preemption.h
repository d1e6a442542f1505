// SPDX-License-Identifier: Apache-2.0
// LonePreemption: which pods would have to go so that a pod outside gangs finds a node: kube-scheduler's
// DefaultPreemption, with its answers and its words.
//
// A node is a candidate if all its pods of lower priority may go and the pod then passes every filter there, with those
// that are nominated for the node and without them. Of these pods as many as possible stay: first those whose eviction
// would violate a PodDisruptionBudget, then the others, the most important first. The rest are the victims.
//
// The best candidate has the fewest violations; then the lowest priority of its most important victim, the lowest sum
// of priorities, the fewest victims, and the latest start of the victims of highest priority. Where upstream then takes
// a random one, this takes the first from a slot on that the caller chooses. It looks at as many nodes as upstream or
// more: what it finds is what upstream could have found.
//
// A gang loses only what it can spare: its other pods are no candidates. Where there is no other candidate, whole gangs
// may go (VictimSearch).
//
// Where pods take only amounts from a node, a node costs O(its pods) sums; elsewhere the filters are asked once for
// each pod. What was found on a node is kept for the next pod of the class (preemption_memory.h). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/what_if.h"
#include "core/place/gang_victims.h"
#include "core/place/preemption_memory.h"
#include "core/place/victim_table.h"
#include "framework/node_trial.h"
#include "framework/profile.h"
#include "observe/reason.h"

namespace tutti::core {

struct PreemptionCandidate {
  model::NodeId node;
  std::vector<model::PodId> victims;  // the most important first; never empty
  std::vector<model::PodId> others;   // that may go from there, too
  int64_t violations = 0;             // victims whose eviction violates a budget
};

struct PreemptionResult {
  enum class Outcome {
    kNotEligible,  // the pod may not preempt, or waits for pods that it preempted; its nomination stays
    kNoCandidate,  // no node would do with all victims gone; its nomination ends
    kFound,
  };
  Outcome outcome = Outcome::kNoCandidate;
  observe::PreemptionRefused refused;           // of the first two
  bool spares_gangs = false;                    // of kNoCandidate: of pods that gangs cannot spare none was asked
  PreemptionCandidate chosen;                   // of kFound
  std::vector<PreemptionCandidate> candidates;  // all that were found, if they were asked for
};

class LonePreemption {
 public:
  // They must outlive this. `gangs` is null where there are none.
  LonePreemption(const cluster::ClusterState& state, cluster::WhatIf& what_if, VictimTable& victims,
                 GangVictims* gangs = nullptr)
      : state_(state), what_if_(what_if), victims_(victims), gangs_(gangs), memory_(state) {}

  struct Question {
    model::PodId pod;
    framework::PreemptionArgs args;
    uint32_t from = 0;  // the slot at which to begin, taken modulo their number
    bool lists_candidates = false;
    std::function<bool(model::NodeId)> shuns;  // nodes that are no candidates for another reason; null: none
  };
  // Seeks the best candidate. REQUIRES: `ranking` is of the pod's class, has caught up, and has no node for the pod.
  PreemptionResult Search(const Question& question, framework::Ranking& ranking);

  // Takes the best of these candidates, as they are by now: of equal ones the first. Left out is one from which no
  // victim may go any longer, and one where the pod would not fit without these. REQUIRES: as Search.
  PreemptionResult ChooseAmong(const Question& question, framework::Ranking& ranking,
                               std::span<const PreemptionCandidate> candidates);

  // Returns what the filters say of one node about this pod, with the pods that are nominated for the node and yield to
  // none of its priority, then without them. nullopt: none are nominated there.
  std::optional<framework::NodeVerdict> VerdictBesideNominated(model::PodId pod, model::NodeId n,
                                                               framework::NodeTrial& trial);

 private:
  struct Asked;
  class WithNominated;  // a speculation

  using Victims = std::span<const PossibleVictim>;
  // Returns the pods of lower priority there that may go. Valid until the next call.
  Victims LowerOn(const Asked& asked, model::NodeId n);
  // Tells whether what is found on the node depends on that alone.
  bool MayKeep(const Asked& asked, model::NodeId n);
  const char* WhyNotEligible(const Asked& asked, model::NodeId own);
  std::optional<framework::NodeVerdict> VerdictBesideNominated(const Asked& asked, model::NodeId n);
  framework::Verdict CheckNow(const Asked& asked, model::NodeId n, bool* for_amounts);
  // Returns the node of the best candidate; nullopt: there is none. Of nodes that are `known` it does not ask, and it
  // adds what it finds. Only with `known` null it notes why each of the others is no candidate.
  std::optional<model::NodeId> FindBest(const Asked& asked, const Question& question, PreemptionMemory::Answers* known,
                                        PreemptionResult* result);
  // Returns what the victims there would cost, which are in picked_ then; nullopt: it is no candidate.
  std::optional<PreemptionCost> Judge(const Asked& asked, const Question& question, model::NodeId n);
  // Fills picked_ with the victims there, and their number of violations. Returns false if the pod would not fit all
  // the same.
  bool PickVictims(const Asked& asked, model::NodeId n, bool for_amounts, int64_t* violations);
  bool Free(const Asked& asked, model::NodeId n, Victims gone);
  bool PickByAmounts(const Asked& asked, model::NodeId n, Victims lower, int64_t* violations);
  bool PickByFilters(const Asked& asked, model::NodeId n, Victims lower, int64_t* violations);
  template <typename Stays>
  void Reprieve(Victims lower, int64_t* violations, Stays stays);
  void SortByBudgets(Victims lower);
  // Tells whether the pod fits there without those of `lower` that are picked_.
  bool FitsWithoutPicked(const Asked& asked, model::NodeId n, Victims lower);
  bool FitsBesideNominated(const Asked& asked, model::NodeId n);
  void LoadNominated(const Asked& asked, model::NodeId n);
  PreemptionCost CostOf(Victims lower, int64_t violations) const;
  PreemptionCandidate Make(const Asked& asked, model::NodeId n, int64_t violations);
  model::NodeRefusals Refusals(const Asked& asked) const;

  const cluster::ClusterState& state_;
  cluster::WhatIf& what_if_;
  VictimTable& victims_;
  GangVictims* const gangs_;
  PreemptionMemory memory_;
  // Scratch, of the node at hand.
  std::vector<const cluster::PodClass*> nominated_;
  std::vector<uint32_t> violating_, others_, picked_;  // places among the pods of lower priority
  std::vector<std::pair<const model::DisruptionBudget*, int64_t>> left_;
  std::vector<int64_t> free_;
  std::vector<PossibleVictim> lower_;
  // Scratch, of the question at hand: what nodes lack once their pods are gone, and other reasons.
  std::vector<size_t> lacking_;  // by the place of the amount
  std::map<std::string, size_t> reasons_;
  size_t not_tried_ = 0;
};

}  // namespace tutti::core
