// SPDX-License-Identifier: Apache-2.0
// Workload: what users, their controllers and the cluster's operators do to the store while the scheduler works.
//
// Each action has a seed of its own, and picks what it acts on from what is there. So a run keeps its meaning when some
// of its actions are left out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "sim/port/world.h"
#include "tests/simulation/queue_users.h"
#include "tests/simulation/scenario.h"

namespace tutti::simulation {

class Workload {
 public:
  Workload(const Scenario& scenario, sim::World& world)
      : scenario_(scenario), world_(world), store_(world.store()), queue_users_(scenario, world.store()) {}

  static std::vector<std::string> Names();

  // Makes nodes, queues and the kinds of the dialects.
  void Setup(base::Random& random);
  // Does one action. Returns what it did, for a trace; empty: there was nothing to act on. `number`: the action's place
  // in its run; the objects that it makes are named after it.
  std::string Do(const std::string& name, base::Random& random, size_t number);
  // What may let gangs start: at once, or when the pods that leave are gone.
  struct Relief {
    std::string done, kind = {};  // empty: nothing
    bool at_once = true;
  };
  Relief MakeRoom(base::Random& random);
  Relief Relieve(base::Random& random);  // in another way

  // The faults that need to know what was made.
  std::string RemoveKind(base::Random& random);  // returns its name; empty: all are gone
  void RestoreKind(const std::string& definition);
  bool HasAllKinds() const;
  std::string LoseNode(base::Random& random);
  void ReturnNode(const std::string& name);

 private:
  // The members of a gang that have one role, or are in one subgroup: they have a ReplicaSet of their own.
  struct Part {
    std::string name;
    int64_t min = 1, size = 1;
  };
  enum class Parted { kNot, kInRoles, kInUnits };
  struct Gang {
    std::string name, dialect;
    std::string owner = {};  // "ReplicaSet", "Job", "RayCluster" or "": bare pods
    int64_t min = 1, size = 1;
    std::string volume_class = {};    // its pods use claims of this class; empty: none
    sim::Json declaration = nullptr;  // the object that declares it; null: none
    Parted parted = Parted::kNot;
    std::vector<Part> parts = {};      // none: all are equal
    sim::Json pods_to_come = nullptr;  // their template, while their controller waits for a phase of the PodGroup
  };
  using Action = std::string (Workload::*)(base::Random&);
  static const std::map<std::string, Action>& Actions();
  Relief Repeat(const char* kind, Action action, base::Random& random);

  std::string ArriveVolcano(base::Random&);
  std::string ArrivePlugins(base::Random&);
  std::string ArriveUpstream(base::Random&);
  std::string ArriveYuniKorn(base::Random&);
  std::string ArriveRay(base::Random&);
  std::string ArriveLone(base::Random&);
  std::string ArriveBare(base::Random&);
  std::string ArriveJob(base::Random&);
  std::string ArriveVolcanoJob(base::Random&);
  std::string SyncVolcanoJobs(base::Random&);
  std::string ArriveVolumes(base::Random&);
  std::string ArriveHeaded(base::Random&);
  std::string ArriveRoles(base::Random&);
  std::string ArriveUnits(base::Random&);
  std::string ArriveForged(base::Random&);
  std::string BindForged(base::Random&);
  std::string Leave(base::Random&);
  std::string Scale(base::Random&);
  std::string Kill(base::Random&);
  std::string Fail(base::Random&);
  std::string EditMin(base::Random&);
  std::string EditGroupQueue(base::Random&);
  std::string EditQueue(base::Random&);
  std::string EditNodeSize(base::Random&);
  std::string AddNode(base::Random&);
  std::string Relabel(base::Random&);
  std::string Taint(base::Random&);
  std::string Autoscale(base::Random&);
  std::string Cordon(base::Random&);
  std::string Drain(base::Random&);
  std::string Foreign(base::Random&);
  std::string TakePlace(base::Random&);
  std::string WipeDisk(base::Random&);
  std::string DropClaim(base::Random&);
  std::string GrowNode(base::Random&);
  std::string OpenNode(base::Random&);
  std::string MoveNode(base::Random&);
  std::string RaiseQueues(base::Random&);
  std::string RaiseQuotas(base::Random& random) { return queued() ? queue_users_.RaiseQuotas(random) : ""; }
  bool queued() const { return QueueUsers::AreIn(scenario_); }
  std::string LowerMin(base::Random&);

  std::string Arrive(base::Random& random, const std::string& dialect, const std::string& owner);
  std::string ArriveInParts(base::Random& random, Gang gang);
  sim::Json PodTemplate(base::Random& random, const Gang& gang, const Part* part = nullptr) const;
  sim::Json Declaration(base::Random& random, const Gang& gang) const;
  void MakePods(const Gang& gang, sim::Json pod_template);
  void MakeReplicaSet(const std::string& name, int64_t size, sim::Json pod_template);
  void MakeClaim(const Gang& gang, const std::string& name, const char* mode);
  void MakeDisk(const std::string& name, const std::string& node);
  std::string SetMin(Gang& gang, int64_t min);
  Gang* PickGang(base::Random& random);
  sim::Object PickPod(base::Random& random, bool bound_only) const;
  std::string PickNode(base::Random& random) const;
  void PutNode(const std::string& name, int64_t cpu, int64_t gpu, base::Random& random);
  void PutForeign(const std::string& name, const std::string& node, const sim::Json& requests, base::Random& random);
  bool Full() const;

  const Scenario& scenario_;
  sim::World& world_;
  sim::Store& store_;
  QueueUsers queue_users_;
  std::vector<Gang> gangs_;
  std::map<std::string, sim::Json> definitions_;  // of custom kinds, by name
  std::map<std::string, sim::Json> queues_;
  std::vector<sim::Json> hyper_nodes_;
  std::map<std::string, sim::Json> lost_nodes_;  // as they are to return
  size_t made_ = 0, nodes_made_ = 0;
};

}  // namespace tutti::simulation
