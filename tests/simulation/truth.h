// SPDX-License-Identifier: Apache-2.0
// Truth: the store's pods, nodes, gangs and queues, as sums that every write brings up to date. It uses none of the
// scheduler's code that decides. Invariants are checked against it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "model/resource_list.h"
#include "sim/store/store.h"

namespace tutti::simulation {

using Version = int64_t;  // a resourceVersion

struct TruePod {
  std::string ns, name, uid, node, phase, scheduler;
  model::ResourceList requests;  // with "pods"
  std::string gang;              // "dialect/ns/name"; of a lone pod its own
  std::string role, unit;
  bool done = false, deleting = false, gated = false;
  Version done_since = 0;
  bool kept = false;              // it would not be recreated without harm
  bool foreign = false;           // not ours to schedule
  bool disruption = false;        // it carries the DisruptionTarget condition
  bool preempted = false;         // the condition's reason is PreemptionByScheduler
  std::string preemption;         // the plan in its record of the pods that leave for its gang; empty: none
  std::set<std::string> victims;  // the uids of those pods
  int32_t priority = 0;
  bool head = false;      // a Ray head, by its label
  bool guarded = false;   // a PodDisruptionBudget never lets it go
  std::string nominated;  // the node that it says is kept for it
  bool waiting = false;   // PodScheduled=False is on it
  std::string reason, message;
  Version said = 0;          // when these last changed
  std::string plan, commit;  // of its bind annotation, if that was made for this pod
  std::string controller;    // its uid
  std::string bound_at;      // RFC 3339, from its condition; without one, when it was made
  bool one_zone = false;     // all members are to be in the same zone
  bool volumes = false;      // it uses some
  bool stray = false;        // its bind took effect long after its sender gave up
  bool told_to_go = false;   // it carries the condition TerminationTarget
  Version made = 0;          // when it was made

  bool bound() const { return !node.empty(); }
  bool occupies() const { return bound() && !done; }
  bool live() const { return !done && !deleting && (bound() || !gated); }
};

struct TrueNode {
  model::ResourceList allocatable, used;
  std::string zone;
  bool present = false;
  Version disturbed = 0;  // the last change by others that took room
  Version marked = 0;     // the last change of labels, taints or cordon
};

struct TrueGang {
  bool declared = false;  // its object is there, or its pods carry the declaration
  std::string made;       // when its object was made; empty: there is none
  int64_t min = 1;
  std::map<std::string, int64_t> role_min;
  int64_t unit_size = 0, unit_min = 0;  // so many subgroups, of so many members each
  bool one_zone = false;                // all members are to be in the same zone
  bool one_zone_each = false;           // the members of each subgroup are to be in the same zone
  std::string queue;
  std::set<std::string> members;  // uids
  Version disturbed = 0;          // the last change by others that made it harder to be whole
  bool was_whole = false;         // since it last had no bound member
  bool restarted = false;         // a scheduler died since then
  int64_t half_since = -1;        // in healthy time; -1: it is not half done
};

struct TrueQueue {
  std::string parent;
  model::ResourceList capability, used;  // used: of its own gangs
  Version disturbed = 0;
};

class Truth {
 public:
  explicit Truth(sim::Store& store);
  ~Truth();
  Truth(const Truth&) = delete;
  Truth& operator=(const Truth&) = delete;

  sim::Store& store() const { return store_; }
  const TruePod* Pod(const std::string& uid) const;
  const TruePod* PodAt(const std::string& ns, const std::string& name) const;
  const std::unordered_map<std::string, TruePod>& pods() const { return pods_; }
  const std::map<std::string, TrueNode>& nodes() const { return nodes_; }
  std::map<std::string, TrueGang>& gangs() { return gangs_; }
  const std::map<std::string, TrueGang>& gangs() const { return gangs_; }
  const TrueGang& GangOf(const TruePod& pod) const { return gangs_.at(pod.gang); }
  const std::map<std::string, TrueQueue>& queues() const { return queues_; }
  size_t node_count() const { return node_count_; }
  Version last_loss() const { return last_loss_; }   // when a pod was last bound, or gone
  Version room_taken() const { return room_taken_; }  // when others last took room of nodes, or nodes were marked
  Version newest() const { return store_.resource_version(); }
  size_t gang_count() const { return gang_count_; }  // ours, with members
  size_t CountPodGroupsWithoutPods() const;          // Volcano's; they are gangs, too

  // The required members that are bound to an existing node and have not failed, compared with the minimum.
  struct Standing {
    int64_t bound = 0, held = 0;  // held: bound anywhere, alive
    bool whole = false;
    bool kept = false;  // a bound one would not be recreated, or was bound by another
    bool ran = false;   // some have done their work
  };
  Standing StandingOf(const TrueGang& gang) const;
  // Tells whether these members, by uid, are enough for the gang.
  bool Suffices(const TrueGang& gang, const std::vector<std::string>& uids) const;
  // Tells whether the pod is bound, has succeeded and is of this gang, not of an earlier one of the same name. Such a
  // pod still counts for the minimum.
  bool Ran(const TrueGang& gang, const TruePod& pod) const;

  // Returns the queue and its ancestors, each with what is used in and below it.
  std::vector<std::pair<std::string, model::ResourceList>> PathUse(const std::string& queue) const;

  // Tells whether there are HyperNodes. While there are none, a PodGroup's tiers mean the whole cluster.
  bool HyperNodesLimit() const { return !hyper_nodes_.empty(); }

  // Returns why the pod may not be on the node as the node is now; empty: it may.
  std::string WrongNode(const TruePod& pod, const std::string& node) const;

  // Returns how many pods like this one find room now, each by itself, on the nodes where it may be.
  int64_t RoomFor(const TruePod& pod) const;

  // Returns what is wrong with the volumes of the bound pod: a claim without a volume, or a volume of another node.
  // Empty: nothing, or the claim came or went later than `known`.
  std::string WrongVolumes(const TruePod& pod, Version known) const;

  // Sets whether a bind that takes effect now does so long after its sender gave up. Such a bind counts as one by
  // others.
  void set_stray(bool stray) { stray_ = stray; }

  int64_t lease_writes() const { return lease_writes_; }

  // Returns what has changed since the last call, for checks.
  std::vector<std::string> TakeBound();  // uids of pods bound since
  std::set<std::string> TakeTouched();   // gangs whose standing may have changed
  bool Committed(const std::string& gang, const std::string& plan) const {
    return committed_.contains(gang + "\n" + plan);
  }
  // Tells whether the pod has been recorded as a victim.
  bool WasRecorded(const std::string& uid) const { return recorded_.contains(uid); }
  // Returns a record of victims that was made while an earlier record of the gang stood and its victims were still
  // there; empty: none.
  const std::string& second_set() const { return second_set_; }
  // Returns the number of plans that have recorded which pods are to leave for their gang.
  size_t records() const { return judged_.size(); }
  // Returns a victim that was recorded and does not help: a lone pod of a node where the gang has no place, or a part
  // of a whole gang without which that gang has too little; empty: none.
  const std::string& useless() const { return useless_; }
  // Tells whether a live pod of the gang is the commit member of some bound member's plan, and is not bound itself.
  bool HasOpenCommit(const TrueGang& gang) const;

 private:
  void OnPod(const sim::WatchEvent& event);
  void OnNode(const sim::WatchEvent& event);
  void OnDeclaration(const sim::WatchEvent& event);
  void OnWorkload(const sim::WatchEvent& event);
  void OnQueue(const sim::WatchEvent& event);
  void OnHyperNode(const sim::WatchEvent& event);
  // Reads into a known pod what may change.
  void Read(const sim::Json& pod, bool first, TruePod& now) const;
  void Forget(const std::string& uid, const TruePod& pod, Version version);
  void FollowRecord(const sim::Json& pod, TruePod& now);
  void FindUseless(const TruePod& recorder);
  void Join(const sim::Json& object, const std::string& uid, TruePod& pod, TrueGang& gang);
  void OnBound(const std::string& uid, TruePod& pod, TrueGang& gang, Version version);
  // Adds the pod to its node and queue, or takes it off.
  void Weigh(const TruePod& pod, int sign);
  void Redeclare(const std::string& gang, const std::function<void(TrueGang&)>& change, Version version);

  sim::Store& store_;
  int64_t subscription_;
  std::unordered_map<std::string, TruePod> pods_;  // by uid
  std::map<std::pair<std::string, std::string>, std::string> by_name_;
  std::map<std::string, TrueNode> nodes_;
  std::map<std::string, TrueGang> gangs_;
  std::map<std::string, TrueQueue> queues_;
  std::set<std::string> hyper_nodes_;
  std::vector<std::string> bound_;
  std::set<std::string> touched_;
  bool stray_ = false;
  int64_t lease_writes_ = 0;
  std::map<std::string, Version> claims_;  // "namespace/name": when it last came or went
  Version last_loss_ = 0, room_taken_ = 0;
  size_t node_count_ = 0, gang_count_ = 0;
  std::set<std::string> recorded_;  // uids of victims
  std::string second_set_;
  std::set<std::string> committed_;  // "gang\nplan"
  std::set<std::string> judged_;     // plans, by FindUseless
  std::string useless_;
};

}  // namespace tutti::simulation
