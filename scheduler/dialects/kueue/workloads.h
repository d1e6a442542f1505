// SPDX-License-Identifier: Apache-2.0
// Workloads: a table of the jobs that wait for quota and of their Workloads, each pair as one gang.
//
// Of either object the other may be missing: a job is there before its Workload, and a Workload may have no job at all.
// Scheduler thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "dialects/dialect.h"
#include "dialects/kueue/jobs.h"
#include "dialects/kueue/limits.h"
#include "dialects/kueue/pods.h"
#include "dialects/kueue/queues.h"
#include "dialects/kueue/slices.h"
#include "dialects/kueue/workload.h"
#include "dialects/priority.h"

namespace tutti::dialects::kueue {

// Pod sets as JSON, and what was read of them.
struct SetsRead {
  base::Json json;
  std::vector<RoleRead> roles;
  std::string problem;
  std::optional<std::string> limits;  // Limits::Problem; nullopt: not known yet
};

// Reads the sets, unless they are the same as before.
void ReadSets(base::Json json, std::string_view ns, const std::vector<std::string>& scheduler_names, SetsRead* into);

// What was made for a Workload and belongs to it, by name.
struct Owned {
  std::map<std::string, std::shared_ptr<const model::Object>> requests, templates;
};

struct Entry {
  model::GangKey key;                        // its name is the Workload's
  std::shared_ptr<const model::Object> job;  // null: there is none
  const JobKind* kind = nullptr;             // of the job
  std::vector<PodSet> sets;                  // of the job
  QueuedPods pods;                           // of a job whose pods are held one by one
  GroupTerms group;                          // of a group of pods
  std::string job_problem;                   // why the job cannot wait for quota; or empty
  bool lacks_name = false;                   // the problem is that another's Workload has the group's name
  Terms terms;                               // as the job says
  SetsRead of_job;
  SetsRead late;                                  // the job's sets that are not in its Workload: a RayJob's submitter
  Slices slices;                                  // its Workloads
  std::string newest;                             // the name of the newest of them, also where that is gone
  bool has_replaced_first = false;                // one that was replaced has the gang's name
  std::shared_ptr<const model::Object> workload;  // the one that counts; null: there is none
  WorkloadRead read;
  SetsRead of_workload;
  std::shared_ptr<const model::Object> next;  // a larger form of it, which waits for the rest; null: there is none
  SetsRead of_next;
  model::GangSpec spec;
  bool holds_new = false;  // it has grown, and checks are to agree: until then its new pods wait
  // Of one without a job: which one it is to replace, and whether it has quota; and the uid of the one that replaces it.
  std::optional<std::pair<std::string, bool>> replaces;
  std::string replaced_by;

  // The job is gone; its Workload and pods may be there.
  void ForgetJob();
  // The pod sets that count.
  const SetsRead& counted() const { return next ? of_next : CountsWorkload() ? of_workload : of_job; }
  SetsRead& counted() { return next ? of_next : CountsWorkload() ? of_workload : of_job; }
  bool CountsWorkload() const;
  // It was a job's that is gone.
  bool orphaned() const;
  bool ended() const;
  // Of its job, or of the pods where those are held one by one; as the functions of these names say in jobs.h.
  // REQUIRES: there is a job.
  bool IsHeld() const;
  bool IsLetGo() const;
  std::optional<JobEnd> End() const;
  std::map<std::string, int64_t> Done() const;
  bool IsReady() const;
  // No group of pods may have its name: it is a job's, or was made by a user.
  bool IsAnothers() const;
  // A job that cannot stand in line yet: pods that it has by now were let go by others.
  bool LacksWorkload() const { return job && !workload && !ended(); }
  // Its pods name it, and are held one by one.
  bool is_group() const { return by_pods() && kind->pods == PodOwner::kGroup; }
  // How many pods each of its sets has, by name.
  std::map<std::string, int64_t> Counts() const;
  // How many pods the group lacks; nullopt: it is none, or has no Workload.
  std::optional<int64_t> AbsentPods() const;
  // It may have more or fewer pods while it runs. What an AppWrapper wraps never changes.
  bool IsElastic() const { return job && !by_pods() && !kind->is_wrapper && kueue::IsElastic(*job); }
  // It is to have no pods for now.
  bool IsScaledToZero() const;
  bool by_pods() const { return kind && kind->by_pods(); }
  // What the job's pod sets and terms say is in the Workload.
  bool InStep() const;
};

class Workloads {
 public:
  Workloads(const Queues& queues, const DialectSettings& settings) : queues_(queues), settings_(settings) {}

  // The kinds besides the jobs'.
  static const std::vector<model::ObjectKind>& Kinds();

  void PutJob(const JobKind& kind, const std::shared_ptr<const model::Object>& object, Touched* touched);
  void DropJob(const JobKind& kind, std::string_view ns, std::string_view name, Touched* touched);
  // A pod with a queue's label.
  void PutPod(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void DropPod(std::string_view ns, std::string_view name, Touched* touched);
  void PutWorkload(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void DropWorkload(std::string_view ns, std::string_view name, Touched* touched);
  // A ProvisioningRequest or a PodTemplate of a Workload; one of any other object has no effect.
  void PutOwned(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void DropOwned(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched);
  // A LimitRange.
  void PutLimits(const model::Object& object, Touched* touched);
  void DropLimits(std::string_view ns, std::string_view name, Touched* touched);
  // A WorkloadPriorityClass or a PriorityClass.
  void PutClass(const model::Object& object, Touched* touched);
  void DropClass(std::string_view kind_name, std::string_view name, Touched* touched);
  // Something about the queues that the ClusterQueue's gangs wait in may be otherwise: its checks.
  void ReadAgain(const std::string& ns, const std::string& local, Touched* touched);

  // The gang of a pod that waits for quota itself; nullopt: it is none.
  std::optional<model::GangKey> GangOf(const model::Pod& pod) const;

  // The gang of a job that waits for quota as a whole; nullopt: it does not.
  std::optional<model::GangKey> GangOfJob(const model::Object& job) const;

  // The gang of the job that has a Workload of that name.
  model::GangKey GangOfWorkload(const std::string& ns, const std::string& name) const;
  const Entry* Find(const model::GangKey& key) const;
  const Owned& OwnedBy(const model::GangKey& key) const;
  // By the uid of its spec. Null: there is none.
  const Entry* FindByUid(const std::string& uid) const;

 private:
  using Place = std::pair<std::string, std::string>;                   // namespace, name of a Workload
  using JobPlace = std::tuple<std::string, std::string, std::string>;  // ObjectKind::Name(), namespace, name
  using Users = std::map<std::string, std::set<Place>, std::less<>>;

  // Replicas of a LeaderWorkerSet, each a job of its own.
  struct Replicas {
    std::string uid;
    int64_t count = 0;
  };

  // How many pods the cluster of a RayJob has.
  struct ClusterSizes {
    std::string job, job_uid;
    std::map<std::string, int64_t> counts;  // by set
    friend bool operator==(const ClusterSizes&, const ClusterSizes&) = default;
  };

  // `name` makes that of the Workload: it is asked for once.
  void PutOne(const JobKind& kind, const std::shared_ptr<const model::Object>& object, const JobPlace& job,
              const std::function<std::string()>& name, Touched* touched);
  void DropOne(const JobPlace& job, Touched* touched);
  void PutReplicas(const JobKind& kind, const model::Object& set, bool waits, Touched* touched);
  // Of the Workload that the pod waits for; without a name: of one that is not known yet. nullopt: of none.
  std::optional<Place> PlaceOf(const model::ObjectMeta& meta, bool bound) const;
  std::string RoleOf(const Entry& entry, const QueuedPod& pod) const;
  static Place PlaceWithoutName(const Place& place);
  // Takes the pods of a group out of a Workload that is not theirs. Where they are put, they wait and say so.
  void MoveGroupAway(const Place& place, Touched* touched);
  // Takes them back to where they belong, which is free now.
  void MoveGroupBack(const Place& place, Touched* touched);
  // Puts the pods of a group again, each where it belongs now.
  void MovePods(Entry& entry, Touched* touched);
  // Reads the pods again of one that is made of them.
  void ReadPods(Entry& entry, Touched* touched);
  // The cluster of a RayJob: its autoscaler changes how many pods that has, and not the RayJob.
  void PutCluster(const model::Object& cluster, Touched* touched);
  void DropCluster(std::string_view ns, std::string_view name, Touched* touched);
  void ReadJobOf(const std::string& ns, const ClusterSizes& sizes, Touched* touched);
  void TakeSizes(Entry& entry) const;
  // Reads what the entry's job declares.
  void ReadDeclared(Entry& entry, Touched* touched);
  // Where the job's gang is that has a Workload of that name.
  Place PlaceOfSlice(const Place& workload) const;
  // The job has as many Workloads as any may have, and none of that name.
  bool HasAllSlices(const Place& place, const std::string& name) const;
  // Takes those of its Workloads that count by now.
  void TakeSlices(Entry& entry) const;
  Entry& Open(const Place& place);
  void ReadJob(const JobKind& kind, const std::shared_ptr<const model::Object>& object, Entry& entry, Touched* touched);
  void Read(Entry& entry, Touched* touched);
  void ReadNamespace(std::string_view ns, Touched* touched);
  void CloseIfEmpty(const Place& place, Touched* touched);
  template <typename Change>
  void ChangeClass(bool of_workloads, std::string_view name, Touched* touched, Change change);
  void ReadUsers(const Users& users, std::string_view name, Touched* touched);
  void ReadAll(std::set<Place> places, Touched* touched);  // by value: what is read moves in its index
  Terms TermsOf(const Entry& entry, std::string* problem) const;
  model::GangSpec SpecOf(const Entry& entry) const;
  // Returns the name of the Workload that the entry's, which is no job's, says it replaces; nullopt: none.
  std::optional<std::string> NameOfReplaced(const Entry& entry) const;
  // Returns the uid of the gang that the entry's Workload says it replaces; empty: there is none, or it is a job's.
  std::string ReplacedBy(const Entry& entry) const;
  // Returns the one that replaces the entry's Workload, which is no job's, in the same queue; null: none does.
  const Entry* ReplacementOf(const Entry& entry) const;
  // Reads the one again that the entry replaces, or did, if that stands otherwise now.
  void TellReplaced(Entry& entry, std::optional<std::pair<std::string, bool>> now, Touched* touched);
  model::QuotaTerms QuotaOf(const Entry& entry) const;
  std::string ReadChecks(const Entry& entry, model::QuotaTerms* quota) const;
  // By the entry's uid, and by `terms`.
  void Index(const Entry& entry, const Terms& terms, bool add);

  const Queues& queues_;
  const DialectSettings& settings_;
  std::map<Place, Entry> entries_;
  std::map<JobPlace, Place> jobs_;
  std::map<std::pair<std::string, std::string>, Replicas> replicas_;  // by namespace and LeaderWorkerSet
  std::map<std::pair<std::string, std::string>, Place> pods_;         // by namespace and name
  // Pods of LeaderWorkerSets that are not known yet, by namespace and set.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::shared_ptr<const model::Object>>> early_;
  std::map<Place, Place> slices_;     // of Workloads that have not the name of their job's gang
  std::map<std::pair<std::string, std::string>, ClusterSizes> sizes_;  // by namespace and RayCluster
  std::map<JobPlace, Place> owners_;  // of ProvisioningRequests and PodTemplates
  std::map<Place, Owned> owned_;
  std::map<std::string, Place> by_uid_;
  std::map<Place, std::set<std::string>> replacements_;  // of Workloads without a job: by name
  std::map<std::pair<std::string, std::string>, std::set<Place>> by_local_;  // namespace, LocalQueue
  Users by_workload_class_, by_pod_class_;
  PriorityClasses workload_classes_, pod_classes_;
  Limits limits_;
};

}  // namespace tutti::dialects::kueue
