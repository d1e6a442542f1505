// SPDX-License-Identifier: Apache-2.0
// The plugin contract: a plugin answers one question about a class of pods, and a class is asked about once.
//
// Prepare() compiles the class against a snapshot into a state; the state answers per node. A state lives as long as
// its ranking (framework/ranking.h) and is asked again for exactly the nodes that changed, so unless it says otherwise
// (FollowsPods, FollowsNodes, FollowsFeasible) its answer for node n may depend on nothing but the class and node n.
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
  // Which pods a state must be told of because its answers depend on pods of other nodes (affinity, spread): none,
  // those of classes with affinity terms, or all. It is told of what came and went, in a WhatIf too, and says which
  // nodes that concerns. By −1 undoes by +1 exactly.
  enum class Pods { kNone, kAffine, kAll };
  virtual Pods FollowsPods() const { return Pods::kNone; }
  virtual void PodChanged(const cluster::PodClass&, model::NodeId, int32_t /*by*/, Dirty&) {}
  // True for a state that keeps something about every node (how many hold an image, which domain each is in): it is
  // told of nodes that came, went or changed before anything else, and says which others that concerns.
  virtual bool FollowsNodes() const { return false; }
  bool Follows() const { return FollowsPods() != Pods::kNone || FollowsNodes(); }
  // Asked when a label key came that no node had: true where that says more than it can follow. It is then made anew.
  virtual bool Outdated() const { return false; }
  // Bytes held, where they grow with the cluster or its pods.
  virtual size_t memory() const { return 0; }
  virtual void NodesChanged(std::span<const model::NodeId>, Dirty&) {}
  // True where the answer about a node depends on the pods that are there. Otherwise it is asked again only about nodes
  // that changed themselves, and about those that it names when it is told of others.
  virtual bool DependsOnNodePods() const { return true; }
  // True where nodes share what it says, by the values that they have of some label keys, which it adds: a filter then
  // has CheckShared and CheckOwn, a score Own. A pod that comes to a zone changes what all nodes there share, and a
  // ranking follows that at a cost that does not grow with the nodes.
  virtual bool Shares(std::vector<model::Symbol>* /*keys*/) const { return false; }
  // True where its answer about a node depends on nothing but NodeFacts, of which it adds those that are not always
  // read: nodes that are alike in these get the same answer, whenever it is asked. That may cease to be so when it is
  // told of pods or nodes; it is asked again then. Where it does not read pods, labels, taints and cordon decide alone.
  virtual bool Reads(NodeFacts* /*facts*/) const { return false; }
};

// Who refused each node, by slot: the place of the filter in the ranking plus one, or one of these.
using RefusedBy = uint8_t;
inline constexpr RefusedBy kNobody = 0;      // feasible
inline constexpr RefusedBy kExcluded = 254;  // left out before any filter was asked (OnlyNodes)
inline constexpr RefusedBy kAbsent = 255;    // no node in this slot

class FilterState : public State {
 public:
  // REQUIRES: `n` is present.
  virtual Verdict Check(model::NodeId n) const = 0;
  // Where it Shares: Check refuses where one of these does. The first is the same for all nodes with the same values of
  // the keys, and Dirty::Domain of such a key names no node for the other. The room that it gives does not depend on
  // the first, and reach() is kCluster.
  virtual Verdict CheckShared(model::NodeId) const { return Verdict::kFits; }
  virtual Verdict CheckOwn(model::NodeId n) const { return Check(n); }
  // All the reasons of a refusal, in upstream's words ("Insufficient cpu"). REQUIRES: Check(n) != kFits.
  virtual void Explain(model::NodeId n, std::vector<std::string>* reasons) const = 0;
  // Adds, for each reason, how many nodes `mine` refused for it: Explain of each. Override as below.
  virtual void ExplainAll(RefusedBy mine, std::span<const RefusedBy> refused_by,
                          std::map<std::string, size_t>* nodes) const;
  // Check for every slot that no filter refused yet: writes `mine` where it refuses. Override where a loop over columns
  // is faster than a call per node; the answers are the same.
  virtual void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const;
  // The same for these nodes alone; `refused_by` is parallel to `nodes`.
  virtual void CheckSome(RefusedBy mine, std::span<const model::NodeId> nodes, std::span<RefusedBy> refused_by) const;
  // Until a pod that it follows comes or goes, its answer about a node depends on that node alone.
  virtual bool AloneForNow() const { return !Follows(); }
  // The words of a refusal of the class as such, whatever the node (upstream: a PreFilter that fails). Empty: none.
  virtual std::string RefusesClass() const { return {}; }
  // The names of the only nodes that can pass, sorted (upstream: PreFilterResult); nullptr: any can. The others are
  // refused before any filter is asked.
  virtual const std::vector<std::string>* OnlyNodes() const { return nullptr; }
  // What a pod of the class takes when it is placed on `n`, besides room: volumes for its open claims. The caller that
  // places it passes that on, so that it is held. REQUIRES: Check(n) == kFits.
  virtual void Choose(model::NodeId /*n*/, cluster::Takings* /*takings*/) const {}

  // What must be free on a node before a pod of the class passes, whatever else there is to it: amounts by column.
  // Asked once; nodes that lack it are then passed over without a Check.
  virtual void Needs(std::vector<std::pair<model::ResourceId, int64_t>>* /*amounts*/) const {}

  // -- For placing several pods together. What is said here makes proofs: it may be too generous, never too strict. --

  // How many pods of this class this filter lets stand on `n`, with what is there now. REQUIRES: Check(n) is kFits, or
  // reach() is kCluster.
  static constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();
  virtual int64_t Room(model::NodeId) const { return kAnyNumber; }
  // Which nodes a pod placed on `n` may change the answer for: `n` alone; those of its domains under the keys that
  // ExcludedBy names, to a refusal and never from one; or any.
  enum class Reach { kNode, kDomains, kCluster };
  virtual Reach reach() const { return FollowsPods() == Pods::kNone ? Reach::kNode : Reach::kCluster; }
  // The label keys under which a pod of `other` keeps this class out of its domain.
  virtual void ExcludedBy(const cluster::PodClass& /*other*/, std::vector<model::Symbol>* /*keys*/) {}
  // The label keys under which all pods of this class must share the domain of some pod that may be one of them.
  virtual void Gathers(std::vector<model::Symbol>* /*keys*/) const {}
  // How many pods of this class it lets stand on all nodes together, when `room[n]` is what the nodes have room for and
  // nothing is placed but these and pods of `others`.
  virtual int64_t Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const;
};

class ScoreState : public State {
 public:
  // The raw score, before normalisation. REQUIRES: `n` passed every filter.
  virtual int64_t Score(model::NodeId n) const = 0;
  // Where it Shares: nodes with the same values of the keys and the same Own have the same score. Own changes only with
  // the node itself and the pods on it.
  virtual int64_t Own(model::NodeId) const { return 0; }
  // Score for every slot that no filter refused, into `raw`; the other slots are left as they are. Override as above.
  virtual void ScoreAll(std::span<const RefusedBy> refused_by, std::span<int64_t> raw) const;
  // Score for these nodes, into `raw`, which is parallel to them.
  virtual void ScoreSome(std::span<const model::NodeId> nodes, std::span<int64_t> raw) const;
  // True for a score that depends on which nodes are feasible at all: it is told before it is asked, at first and
  // whenever that, or a node itself, changed. True is returned when all nodes are to be scored anew.
  virtual bool FollowsFeasible() const { return false; }
  virtual bool FeasibleChanged(std::span<const RefusedBy>) { return false; }
  // The same where it Shares: the feasible nodes by what they share, and of each such cell the best by other scores.
  struct Alike {
    model::NodeId best;
    size_t nodes = 0;
  };
  virtual void FeasibleChanged(std::span<const Alike>) {}
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;  // kube-scheduler's name, where it has the plugin
  // True where PodClass::selected_by says anything to it.
  virtual bool ReadsSelections() const { return false; }
};

class Filter : public virtual Plugin {
 public:
  // nullptr when every node passes (upstream: Skip).
  virtual std::unique_ptr<FilterState> PrepareFilter(const cluster::PodClass&, const cluster::Snapshot&) const = 0;
  virtual Wake WakesOn() const = 0;
  // True for a filter that is asked again about a placed pod's node once the pod's volumes are bound, before the pod
  // is: they may turn out to be elsewhere.
  virtual bool JudgesBoundVolumes() const { return false; }
};

// How raw scores become 0..100 over the feasible nodes (upstream: NormalizeScore). Divisions cut toward zero.
inline constexpr int64_t kMaxNodeScore = 100;
enum class Normalize {
  kNone,         // raw is 0..100 already
  kMax,          // 100·s/max; all 0 if max is 0      (DefaultNormalizeScore)
  kMaxReversed,  // 100 − 100·s/max; all 100 if max is 0
  kMinMax,       // 100·(s−min)/(max−min); all 0 if equal (InterPodAffinity)
  kSpread,       // 100·(max+min−s)/max; all 100 if max is 0 (PodTopologySpread); kNoScore becomes 0
};
// A raw score of kSpread that is left out of max and min.
inline constexpr int64_t kNoScore = -1;

class Score : public virtual Plugin {
 public:
  // nullptr when the plugin has no say about this class (upstream: Skip); it then adds nothing.
  virtual std::unique_ptr<ScoreState> PrepareScore(const cluster::PodClass&, const cluster::Snapshot&) const = 0;
  virtual Normalize normalize() const { return Normalize::kNone; }
};

}  // namespace tutti::framework
