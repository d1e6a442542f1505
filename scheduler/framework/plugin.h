// SPDX-License-Identifier: Apache-2.0
// The plugin contract: a plugin answers one question about a class of pods, once for each class.
//
// PrepareFilter() or PrepareScore() compiles the class against a snapshot into a state, which answers for each node. A
// state lives as long as its ranking (framework/ranking.h). It is asked again only about nodes that changed. So its
// answer for node n may depend only on the class and node n, unless it says otherwise (FollowsPods, FollowsNodes,
// FollowsFeasible).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/snapshot.h"
#include "framework/dirty.h"
#include "framework/node_groups.h"
#include "framework/verdict.h"

namespace tutti::framework {

class State {
 public:
  virtual ~State() = default;
  // Which pods of other nodes the answers depend on (affinity, spread): none, those of classes with affinity terms, or
  // all. PodChanged() gets each such pod that came or went, also in a WhatIf, and adds the nodes that it concerns to
  // Dirty. A call by −1 exactly undoes one by +1.
  enum class Pods { kNone, kAffine, kAll };
  virtual Pods FollowsPods() const { return Pods::kNone; }
  virtual void PodChanged(const cluster::PodClass&, model::NodeId, int32_t /*by*/, Dirty&) {}
  // True for a state that keeps data about every node, such as its domain, or how many nodes hold an image.
  // NodesChanged() gets the nodes that came, went or changed, before any other call, and adds the other nodes that this
  // concerns to Dirty.
  virtual bool FollowsNodes() const { return false; }
  bool Follows() const { return FollowsPods() != Pods::kNone || FollowsNodes(); }
  // Called when a label key came that no node had. True if the state cannot follow that; it is then made again.
  virtual bool Outdated() const { return false; }
  // Returns the bytes held, as far as they grow with the cluster or its pods.
  virtual size_t memory() const { return 0; }
  virtual void NodesChanged(std::span<const model::NodeId>, Dirty&) {}
  // True if the answer about a node depends on the pods on it. Otherwise the state is asked again only about nodes
  // whose object changed, and about those that it added to Dirty.
  virtual bool DependsOnNodePods() const { return true; }
  // True if nodes with the same values of some label keys share a part of the answer; it adds these keys. A filter then
  // has CheckShared and CheckOwn, and a score has Own. When a pod comes to a zone, the shared part of all its nodes
  // changes, and a ranking follows that at a cost that does not grow with the nodes.
  virtual bool Shares(std::vector<model::Symbol>* /*keys*/) const { return false; }
  // True if the answer about a node depends only on NodeFacts; it adds those that are not always read. Nodes that are
  // equal in these then always get the same answer. It is called again after PodChanged and NodesChanged, and may then
  // return false. The answer of a state that does not read pods depends only on labels, taints and cordon.
  virtual bool Reads(NodeFacts* /*facts*/) const { return false; }
};

// The filter that refused a node: its index in the ranking plus one, or one of these values.
using RefusedBy = uint8_t;
inline constexpr RefusedBy kNobody = 0;      // feasible
inline constexpr RefusedBy kExcluded = 254;  // left out before any filter ran (OnlyNodes)
inline constexpr RefusedBy kAbsent = 255;    // no node in this slot

class FilterState : public State {
 public:
  // Judges the node. REQUIRES: `n` is present.
  virtual Verdict Check(model::NodeId n) const = 0;
  // If it Shares: Check refuses exactly if one of these does. CheckShared is the same for all nodes with the same
  // values of the keys. Dirty::Domain of such a key does not concern CheckOwn. Room() does not depend on CheckShared,
  // and reach() is kCluster.
  virtual Verdict CheckShared(model::NodeId) const { return Verdict::kFits; }
  virtual Verdict CheckOwn(model::NodeId n) const { return Check(n); }
  // Adds all reasons of a refusal, in kube-scheduler's words ("Insufficient cpu"). REQUIRES: Check(n) != kFits.
  virtual void Explain(model::NodeId n, std::vector<std::string>* reasons) const = 0;
  // Adds, for each reason, how many nodes `mine` refused for it, by Explain() of each. It may be overridden as below.
  virtual void ExplainAll(RefusedBy mine, std::span<const RefusedBy> refused_by,
                          std::map<std::string, size_t>* nodes) const;
  // Checks every slot that no filter refused yet, and writes `mine` where it refuses. A plugin overrides it if a loop
  // over columns is faster than a call for each node; the answers must be the same.
  virtual void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const;
  // Checks these nodes only; `refused_by` is parallel to `nodes`.
  virtual void CheckSome(RefusedBy mine, std::span<const model::NodeId> nodes, std::span<RefusedBy> refused_by) const;
  // Tells whether the answer about a node depends on that node only, until a pod that the state follows comes or goes.
  virtual bool AloneForNow() const { return !Follows(); }
  // Returns why the class is refused on every node (kube-scheduler: a PreFilter that fails). Empty: it is not.
  virtual std::string RefusesClass() const { return {}; }
  // Returns the sorted names of the only nodes that can pass (kube-scheduler: PreFilterResult); null: any node can.
  // The others are refused before any filter runs.
  virtual const std::vector<std::string>* OnlyNodes() const { return nullptr; }
  // Adds what a pod of the class takes on `n` besides room: volumes for its open claims. The caller that places the pod
  // passes them on, so that they are held. REQUIRES: Check(n) == kFits.
  virtual void Choose(model::NodeId /*n*/, cluster::Takings* /*takings*/) const {}

  // Adds the amounts, by column, that a node must have free to pass; this is necessary, perhaps not sufficient. Nodes
  // that lack these amounts are then skipped without a Check.
  virtual void Needs(std::vector<std::pair<model::ResourceId, int64_t>>* /*amounts*/) const {}

  // True where Check is kFits exactly when what Needs adds is free. LackOf then words the reason of one column.
  virtual bool NeedsDecide() const { return false; }
  virtual std::string LackOf(model::ResourceId) const { return {}; }
  // PodChanged, in a trial of what a node says once pods have left it (framework/node_trial.h). Override it where
  // kube-scheduler counts otherwise then: its AddPod and RemovePod.
  virtual void PodTried(const cluster::PodClass& pod_class, model::NodeId n, int32_t by, Dirty& dirty) {
    PodChanged(pod_class, n, by, dirty);
  }

  // -- For placing several pods together. Proofs use these answers: they may be too high, but never too low. --

  // Returns how many more pods of this class the filter allows on `n` now. REQUIRES: Check(n) is kFits, or reach() is
  // kCluster.
  static constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();
  virtual int64_t Room(model::NodeId) const { return kAnyNumber; }
  // For which nodes a pod placed on `n` may change the answer. kNode: for `n` only. kDomains: for nodes in its domains
  // of the keys of ExcludedBy, and only to a refusal. kCluster: for any node.
  enum class Reach { kNode, kDomains, kCluster };
  virtual Reach reach() const { return FollowsPods() == Pods::kNone ? Reach::kNode : Reach::kCluster; }
  // Adds the label keys in whose domains a pod of `other` keeps pods of this class out.
  virtual void ExcludedBy(const cluster::PodClass& /*other*/, std::vector<model::Symbol>* /*keys*/) {}
  // Adds the label keys in whose domains each pod of this class must join some other pod, perhaps one of its own class.
  virtual void Gathers(std::vector<model::Symbol>* /*keys*/) const {}
  // Returns how many pods of this class it allows on all nodes together, if the nodes have room for `room[n]` pods and
  // only these and pods of `others` are placed.
  virtual int64_t Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const;
};

class ScoreState : public State {
 public:
  // Returns the raw score, before normalisation. REQUIRES: `n` passed every filter.
  virtual int64_t Score(model::NodeId n) const = 0;
  // If it Shares: nodes with the same values of the keys and the same Own have the same score. Own depends only on the
  // node itself and the pods on it.
  virtual int64_t Own(model::NodeId) const { return 0; }
  // Writes the score of every slot that no filter refused into `raw`, and leaves the other slots unchanged. It may be
  // overridden as above.
  virtual void ScoreAll(std::span<const RefusedBy> refused_by, std::span<int64_t> raw) const;
  // Writes the scores of these nodes into `raw`, which is parallel to `nodes`.
  virtual void ScoreSome(std::span<const model::NodeId> nodes, std::span<int64_t> raw) const;
  // True for a score that depends on the set of feasible nodes. FeasibleChanged() is then called before the first
  // question, and whenever that set or a feasible node has changed. It returns true if all nodes must be scored again.
  virtual bool FollowsFeasible() const { return false; }
  virtual bool FeasibleChanged(std::span<const RefusedBy>) { return false; }
  // If it Shares, it gets the feasible nodes as cells instead: for each cell its number of nodes, and the best one by
  // the other scores.
  struct Alike {
    model::NodeId best;
    size_t nodes = 0;
  };
  virtual void FeasibleChanged(std::span<const Alike>) {}
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;  // kube-scheduler's name, if it has the plugin
  // True if it reads PodClass::selected_by.
  virtual bool ReadsSelections() const { return false; }
};

class Filter : public virtual Plugin {
 public:
  // Makes the state; nullptr when every node passes (kube-scheduler: Skip).
  virtual std::unique_ptr<FilterState> PrepareFilter(const cluster::PodClass&, const cluster::Snapshot&) const = 0;
  virtual Wake WakesOn() const = 0;
  // True for a filter that must judge a placed pod's node again after the pod's volumes were bound and before the pod
  // is bound: the volumes may not be reachable from the node.
  virtual bool JudgesBoundVolumes() const { return false; }
};

// How raw scores become 0..100 over the feasible nodes (kube-scheduler: NormalizeScore). Divisions cut toward zero.
inline constexpr int64_t kMaxNodeScore = 100;
enum class Normalize {
  kNone,         // the raw score is 0..100 already
  kMax,          // 100·s/max; all 0 if max is 0      (DefaultNormalizeScore)
  kMaxReversed,  // 100 − 100·s/max; all 100 if max is 0
  kMinMax,       // 100·(s−min)/(max−min); all 0 if equal (InterPodAffinity)
  kSpread,       // 100·(max+min−s)/max; all 100 if max is 0 (PodTopologySpread); kNoScore becomes 0
};
// A raw score of kSpread that max and min ignore.
inline constexpr int64_t kNoScore = -1;

class Score : public virtual Plugin {
 public:
  // Makes the state; nullptr when the plugin does not score this class (kube-scheduler: Skip) and so adds nothing.
  virtual std::unique_ptr<ScoreState> PrepareScore(const cluster::PodClass&, const cluster::Snapshot&) const = 0;
  virtual Normalize normalize() const { return Normalize::kNone; }
};

}  // namespace tutti::framework
