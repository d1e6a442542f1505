// SPDX-License-Identifier: Apache-2.0
// ClusterState: the owner of what is known of pods and nodes. Events are applied to it, reservations are made in it,
// and its Snapshot is what planning reads.
//
// Invariants
//   (1) a pod weighs on at most one node: the one it is bound to, or the one of its reservation;
//   (2) a pod that has a reservation weighs on its node from the beginning; the reservation ends by Release, by its
//       node going, by HandOver to another pod, or by its pod being seen bound (anywhere), ending or going;
//   (3) a pod bound to a node that does not exist weighs nowhere until such a node appears;
//   (4) no pod or node changes while anything is speculated (WhatIf).
//
// Pods are told apart by those of their labels that some pod's selectors read (PodClass, LabelKeys). Where a key begins
// or ceases to be read, the pods there are classified again, once for all that was applied: see Reclassify. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/slots.h"
#include "cluster/budgets.h"
#include "cluster/label_keys.h"
#include "cluster/nominations.h"
#include "cluster/selections.h"
#include "cluster/snapshot.h"
#include "cluster/stand_ins.h"
#include "model/node.h"
#include "model/pod.h"

namespace tutti::cluster {

struct PodEntry {
  std::shared_ptr<const model::Pod> pod;  // null: the slot is free
  std::shared_ptr<const PodClass> pod_class;
  model::NodeId node;          // where it weighs; invalid: nowhere
  Takings takings;             // what it took there when that was reserved; kept while it weighs there
  uint32_t place = 0;          // among the pods of its node, or of a node that is not there
  uint32_t ns_place = 0;       // among the pods of its namespace
  model::GangId reserved_for;  // it stands in for what leaves the node for that gang; invalid: for none
  model::GangId victim_of;     // it leaves the node for that gang; invalid: for none
  bool reserved = false;       // it weighs there by a reservation, and is not bound there
  bool leaving = false;        // its eviction was sent, and is not known to have failed
  bool evicted = false;        // in a speculation: it does not weigh there for as long as that lasts
  bool promised = false;       // there is no such pod yet; see Promise
};

class ClusterState {
 public:
  ClusterState() : by_name_(0, NameHash{}, NameEqual{&pods_}) {}
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  const Snapshot& snapshot() const { return snapshot_; }
  Snapshot& planning() { return snapshot_; }  // for namespaces, and tests

  // What an applied pod event did.
  struct PodChange {
    model::PodId id;
    std::shared_ptr<const model::Pod> before;  // null: a pod new to us, or of a new UID
    model::PodId replaced;                     // the slot of an older pod of the same name, about to be dropped
  };
  // A pod of the same name and another UID must be dropped first: then `replaced` is set and nothing else was done.
  PodChange ApplyPod(std::shared_ptr<const model::Pod> pod);
  void DropPod(model::PodId id);

  // Adds a pod that is to come, as its template makes it: it is classified, and room is reserved for it, as for one
  // that is there. No event speaks of it, and FindPod does not find it. It gets a UID that no pod has. Ends by DropPod.
  model::PodId Promise(const model::Pod& as_made);

  struct NodeChange {
    model::NodeId id;
    std::shared_ptr<const model::Node> before;  // null: new
  };
  NodeChange ApplyNode(std::shared_ptr<const model::Node> node);
  // Its pods stay known and weigh nowhere. False: no such node.
  bool DropNode(const std::string& name);

  // An object of a storage kind; see Storage.
  Storage::Applied ApplyStorage(const model::Object& object, std::vector<std::string>* problems) {
    return snapshot_.storage().Put(object, problems);
  }
  Storage::Applied DropStorage(const std::string& resource, const std::string& ns, const std::string& name) {
    return snapshot_.storage().Drop(resource, ns, name);
  }
  // A Service or a controller came, changed or went. True: pods that wait may be of another class now; see Reselect.
  bool ApplySelection(const model::Selection& selection) { return selections_.Put(selection); }
  bool DropSelection(model::Selection::Kind kind, const std::string& ns, const std::string& name) {
    return selections_.Drop(kind, ns, name);
  }
  // Classifies a pod again by what selects it. True when its class changed: never of one that is bound or reserved, for
  // which it does not matter any more.
  bool Reselect(model::PodId id);
  // Classes are as the selectors that there are now have it. To be called before anything is planned on what was
  // applied, or selected again. O(1) when no label key began or ceased to be read; else O(pods of the namespaces where
  // one did). What is left of resources that no pod asks for any more is let go then, too.
  void Reclassify();

  const Nominations& nominations() const { return nominations_; }
  // Room is kept for the pod on this node from now on (empty: on none), whatever the pod says of itself, until it says
  // the same. REQUIRES: it waits.
  void KeepNode(model::PodId id, const std::string& node);
  // The node that KeepNode names, while the pod does not say so; null: what the pod says counts.
  const std::string* kept_node(model::PodId id) const {
    const auto kept = kept_.find(id);
    return kept == kept_.end() ? nullptr : &kept->second;
  }

  Budgets& budgets() { return budgets_; }
  const Budgets& budgets() const { return budgets_; }

  // The pods that use the claim "namespace/name", bound or not.
  std::vector<model::PodId> UsersOf(const std::string& claim) const;

  // Reserves room for the pod, and what it takes there. REQUIRES: `node` is present; the pod is unbound, and has no
  // reservation.
  // `of`: it stands in for the victims of that gang on the node, as long as there are some.
  void Reserve(model::PodId id, model::NodeId node, Takings takings = {}, model::GangId of = {});
  // The reservation of `from` is `to`'s from now on. REQUIRES: `from` has one; both are of one class; `to` is unbound,
  // and has none.
  void HandOver(model::PodId from, model::PodId to);
  // Gives the pod's reservation up, if it has one.
  void Release(model::PodId id);
  size_t reserved() const { return reserved_; }  // pods
  // The pod leaves its node for the gang, or, if that is invalid, for none any more. It weighs there until it is gone,
  // but counts once with what is reserved for the gang there: see StandIns. REQUIRES: it is bound to a node that
  // exists, and leaves for no other gang.
  void SetVictim(model::PodId id, model::GangId of);
  // The pod's eviction is sent; or it failed. It weighs where it is until it is gone.
  void SetLeaving(model::PodId id, bool leaving) { pods_[id.index()].leaving = leaving; }

  model::PodId FindPod(std::string_view ns, std::string_view name) const;
  const PodEntry& pod(model::PodId id) const { return pods_[id.index()]; }
  bool NodeExists(const std::string& name) const { return snapshot_.FindNode(name).valid(); }
  // Slots ever used; promises have some too.
  size_t pod_slots() const { return pods_.size(); }
  size_t pod_count() const { return by_name_.size(); }
  // The pods that weigh on the node: bound and not ended, or with a reservation; and those that a speculation evicted.
  // In no order; valid until the next change.
  std::span<const model::PodId> pods_on(model::NodeId node) const { return on_node_[node.index()]; }
  // Changes with the pods that weigh on the node: with which they are, and with what is known of each.
  uint64_t pods_version(model::NodeId node) const { return pods_versions_[node.index()]; }
  // Steps that WhatIfs took and did not undo yet.
  size_t speculated() const { return speculated_; }

  // Where room may have been won since the last call: the nodes that came or changed, and those that a pod left, or was
  // forgotten on, or weighs less on, or is not nominated for any more. What a WhatIf does and takes back is not among
  // them.
  struct Improved {
    std::vector<model::NodeId> nodes;  // distinct
    bool by_pods = false;
    bool by_volumes = false;  // that were held for a pod
  };
  Improved TakeImproved();
  bool AnyImproved() const { return !improved_.nodes.empty(); }

  // Lets go of texts that neither nodes, namespaces nor pods have any more: those of selectors, and of pods that went.
  // REQUIRES: no Ranking of this, nor anything else that was compiled against its symbols.
  void SweepSymbols();

  // Recomputes every sum from the pods and CHECKs the columns against it, and that nothing is speculated.
  // O(pods + nodes · columns).
  void Audit() const;

 private:
  friend class WhatIf;
  using Selector = std::shared_ptr<const model::LabelSelector>;
  std::shared_ptr<const PodClass> InternClass(const model::Pod& pod, const Selector& selected_by);
  Selector SelectorOf(const model::Pod& pod, const PodClass* before);
  LabelEntries ReadLabels(const model::Pod& pod);
  static std::vector<ClaimUse> ReadClaims(const model::Pod& pod);
  void ClassifyAgain(PodEntry& entry);
  void NameAgain();
  void SetClass(PodEntry& entry, std::shared_ptr<const PodClass> pod_class);
  void ReleaseUnusedClasses();
  void SweepColumns();
  void Weigh(model::PodId id, model::NodeId node);
  void Unweigh(PodEntry& entry);
  // Its room stays taken: it is bound there, or Unweigh follows.
  void EndReservation(PodEntry& entry);
  void TellStandIns(const PodEntry& entry, const PodClass& pod_class, int by);
  // For a WhatIf: takes the pod off its node, and puts it there again.
  void Evict(model::PodId id);
  void Reinstate(model::PodId id);
  void MustBeAtRest() const;
  // It is bound to a node that does not exist.
  static bool IsAdrift(const PodEntry& entry) { return entry.pod && entry.pod->occupies() && !entry.node; }
  void SetAdrift(model::PodId id);
  void LeaveAdrift(const PodEntry& entry);
  void Improve(model::NodeId node);
  void Nominate(model::PodId id);
  void PodsChanged(model::NodeId node) {
    if (node) ++pods_versions_[node.index()];
  }
  void EndNomination(const std::string& node_name);
  // Lists of pods, in no order. Each pod knows its place, and leaves in O(1).
  using Place = uint32_t PodEntry::*;
  void PutInto(std::vector<model::PodId>& list, model::PodId id, Place place);
  void TakeFrom(std::vector<model::PodId>& list, const PodEntry& entry, Place place);
  uint64_t HashOf(const std::shared_ptr<const model::PodSpec>& spec);

  using Entries = base::Slots<PodEntry, 1024>;

  // Pods by (namespace, name), which their entries hold. The hash is kept beside the id: the table grows, and most of
  // what is not looked for is passed, without a look at the pods.
  struct Name {
    Name(std::string_view ns_, std::string_view name_)
        : ns(ns_), name(name_), hash(static_cast<uint32_t>(absl::HashOf(ns_, name_))) {}
    std::string_view ns, name;
    uint32_t hash;
  };
  struct Named {
    model::PodId id;
    uint32_t hash;
  };
  struct NameHash {
    using is_transparent = void;
    size_t operator()(const Name& name) const { return name.hash; }
    size_t operator()(const Named& named) const { return named.hash; }
  };
  struct NameEqual {
    using is_transparent = void;
    const Entries* pods;
    bool operator()(const Named& a, const Named& b) const { return a.id == b.id; }
    bool operator()(const Named& a, const Name& b) const {
      if (a.hash != b.hash) return false;
      const model::ObjectMeta& meta = (*pods)[a.id.index()].pod->meta;
      return meta.name == b.name && meta.ns == b.ns;
    }
    bool operator()(const Name& a, const Named& b) const { return (*this)(b, a); }
  };
  model::PodId Find(const Name& name) const;
  model::PodId AddSlot();

  Snapshot snapshot_;
  Selections selections_;
  Nominations nominations_;
  absl::flat_hash_map<model::PodId, std::string> kept_;  // nodes that pods do not say yet; see KeepNode
  Budgets budgets_;
  StandIns stand_ins_{snapshot_};
  Entries pods_;
  std::vector<model::PodId> free_pods_;
  absl::flat_hash_set<Named, NameHash, NameEqual> by_name_;
  std::vector<std::vector<model::PodId>> on_node_;                       // by node slot; see pods_on
  std::vector<uint64_t> pods_versions_;                                  // by node slot
  absl::flat_hash_map<std::string, std::vector<model::PodId>> adrift_;   // by the name of a node that is not there
  absl::flat_hash_map<model::Symbol, std::vector<model::PodId>> by_ns_;  // by namespace
  std::unordered_map<std::string, std::set<model::PodId>> users_;        // by claim, "namespace/name"
  std::unordered_multimap<uint64_t, std::weak_ptr<const PodClass>> classes_;
  // Hashes of the specs in use: pods of one template share a spec, and hashing it reads all of it.
  absl::flat_hash_map<const model::PodSpec*, std::pair<std::weak_ptr<const model::PodSpec>, uint64_t>> hashes_;
  LabelKeys keys_;
  uint32_t next_class_ = 0;
  size_t sweep_classes_at_ = 1024, sweep_hashes_at_ = 1024;
  size_t reserved_ = 0;  // pods
  size_t speculated_ = 0;
  uint64_t promises_ = 0;  // that were ever made
  Improved improved_;
  std::vector<char> marked_;  // by node slot: it is among the improved
};

}  // namespace tutti::cluster
