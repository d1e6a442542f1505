// SPDX-License-Identifier: Apache-2.0
// Dialect: one ecosystem's way to say gang and queue, and the status it expects back.
//
// A dialect keeps the objects of its kinds, as far as it needs them, and what they declare. It holds no pods, does not
// decide who starts, and never sees the core. Scheduler thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/desired.h"
#include "dialects/report.h"
#include "model/gang.h"
#include "model/node.h"
#include "model/object.h"
#include "model/pod.h"
#include "model/sharing_queue.h"

namespace tutti::dialects {

// What a change of objects touched; the core reads the named declarations again.
struct Touched {
  std::set<model::GangKey> gangs;
  std::set<model::GangKey> members;  // MembershipOf may answer otherwise now for those that are in it
  std::set<model::GangKey> desires;  // Desire may answer otherwise now, though Describe does not
  std::set<std::string> queues;
  // Of queues that give quota before there are pods: names of flavors, cohorts, leaves; {namespace, name} of the
  // others.
  std::set<std::string> flavors, cohorts, leaves;
  std::set<std::pair<std::string, std::string>> locals;
  bool memberships = false;   // MembershipOf may answer otherwise now, for any pod
  bool declarations = false;  // Describe may answer otherwise now, for any gang
  bool nodes = false;         // AddNodeLabels may add others now, for any node
};

// A pod's place in a gang.
struct Membership {
  model::GangKey gang;
  std::string role;         // empty: no role
  bool head = false;        // never optional: its role's minimum is at least 1, and it is bound last
  bool needs_head = false;  // useless without one (a Ray worker): the gang waits until a head member exists
  // Among the members of a gang, those of higher priority are placed first where not all fit; nullopt: the pod's own.
  std::optional<int32_t> priority;
  // It waits as one with a scheduling gate does, for it has not been let go.
  bool held = false;
  // Nothing declares the gang but the pod itself: it is over once the pod is bound. It has the pod's namespace and
  // name.
  bool lone = false;
  // For dialects whose pods carry the declaration themselves; else null, and Describe() is asked.
  std::shared_ptr<const model::GangSpec> declared;
  // What the dialect asks for this pod's part of the gang; null: nothing, and what the pod itself says counts.
  std::shared_ptr<const model::TopologyRequest> topology;
  std::shared_ptr<const model::Unit> unit;  // that it is in; null: none
};

// An Event that an ecosystem expects about one of its objects.
struct ObjectEvent {
  cluster::ObjectRef about;
  bool warning = false;
  std::string reason, note;
  std::string reporter;  // who says so, as the ecosystem has it; empty: this scheduler
};

// Why a pod is evicted for a gang that is not its own.
enum class EvictedFor {
  kPriority,  // that gang has a higher one
  kShare,     // that gang takes what its queue has lent
};

// What an ecosystem says of a pod that is evicted for another gang, besides what kube-scheduler says: an Event on the
// pod, and one on the object of its gang.
struct EvictionNotes {
  std::string reason;   // of both
  std::string of_pod;   // a warning
  std::string of_gang;  // no warning
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view name() const = 0;  // "volcano"
  // The kinds that it reads; none by default.
  virtual const std::vector<model::ObjectKind>& Kinds() const {
    static const std::vector<model::ObjectKind> none;
    return none;
  }

  virtual void Put(std::shared_ptr<const model::Object> object, Touched* touched) = 0;
  virtual void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) = 0;
  // The kind became known to be served, or not. A kind that cannot be read is served.
  virtual void Served(std::string_view /*kind_name*/, bool /*served*/, Touched*) {}

  // Notes why the objects of one of its kinds are not known; empty: they are.
  void SetUnreadable(const std::string& kind_name, const std::string& why) {
    if (why.empty())
      unreadable_.erase(kind_name);
    else
      unreadable_[kind_name] = why;
  }
  // Tells whether some are not: then none of its gangs starts, and nothing that it desires is written.
  bool blind() const { return !unreadable_.empty(); }
  // REQUIRES: it is blind.
  std::string WhyBlind() const {
    const auto& [kind_name, why] = *unreadable_.begin();
    return kind_name + " cannot be listed: " + why;
  }

  // nullopt: not ours.
  virtual std::optional<Membership> MembershipOf(const model::Pod& pod) const = 0;
  // The gang as declared now. Where its object is missing or wrong, `problem` says so.
  virtual model::GangSpec Describe(const model::GangKey& key) const = 0;
  // By which schedulerName a gang is served that its object declares and of which there is no pod to say; empty: by
  // none, for without pods there is no gang. It is one of DialectSettings::scheduler_names.
  virtual std::string_view SchedulerName(const model::GangKey&) const { return {}; }
  // nullopt: no such queue.
  virtual std::optional<model::QueueSpec> DescribeQueue(std::string_view /*name*/) const { return std::nullopt; }

  // Queues that give quota before there are pods, as declared now; nullopt: there is none of the name.
  virtual std::optional<model::Flavor> DescribeFlavor(std::string_view /*name*/) const { return std::nullopt; }
  virtual std::optional<model::CohortSpec> DescribeCohort(std::string_view /*name*/) const { return std::nullopt; }
  virtual std::optional<model::LeafQueueSpec> DescribeLeaf(std::string_view /*name*/) const { return std::nullopt; }
  virtual std::optional<model::LocalQueueSpec> DescribeLocal(std::string_view /*ns*/, std::string_view /*name*/) const {
    return std::nullopt;
  }

  // Levels of topology that the ecosystem keeps in objects of its own, as labels of the node. Their keys have two
  // slashes, so that no label that a node has itself looks like them. A node may also change what others have.
  virtual void AddNodeLabels(const model::Node&, model::StringMap* /*labels*/, Touched*) {}
  // The node is gone.
  virtual void DropNode(std::string_view /*name*/) {}

  // All that the ecosystem's objects should be, as the report has it; of objects that are not named, nothing is
  // desired. A function of the report, of the objects that were put, and of what is known before they show it. It is
  // asked again for each report that differs from the last one, and for each write that has to be made.
  // Returns from when on (wall time) it may answer otherwise to the same report, though nothing else happens; 0: never.
  virtual base::Millis Desire(const GangReport&, const cluster::Unseen&,
                              std::vector<cluster::DesiredObject>* /*out*/) const {
    return 0;
  }
  virtual void DesireOfQueue(const QueueReport&, const cluster::Unseen&,
                             std::vector<cluster::DesiredObject>* /*out*/) const {}

  virtual void DesireOfSharing(const SharingReport&, const cluster::Unseen&,
                               std::vector<cluster::DesiredObject>* /*out*/) const {}

  // The Events that the ecosystem expects where the report is `now` and was `before` when it was last looked at. Each
  // change is told once.
  virtual void Announce(const GangReport& /*before*/, const GangReport& /*now*/,
                        std::vector<ObjectEvent>* /*out*/) const {}

  // Where Events about the gang go besides its pods; nullopt: nowhere.
  virtual std::optional<cluster::ObjectRef> EventTarget(const model::GangKey&) const { return std::nullopt; }
  // nullopt: the ecosystem says nothing of its own.
  virtual std::optional<EvictionNotes> NotesOfEviction(EvictedFor) const { return std::nullopt; }

 private:
  std::map<std::string, std::string> unreadable_;  // its kinds whose objects are not known: why
};

// All dialects, in order: the first whose MembershipOf answers owns the pod. The last takes every pod.
using DialectList = std::vector<std::unique_ptr<Dialect>>;

// How long an admitted job is given until its pods are ready, and what becomes of it then.
struct PodsReadyRule {
  bool enabled = false;
  base::Millis timeout_ms = 300'000;  // since it was admitted
  // Since a pod of a job was lost whose pods were ready once; nullopt: without end.
  std::optional<base::Millis> recovery_timeout_ms;
  // So often it stands in line again, after a pause that doubles each time; nullopt: without end.
  std::optional<int64_t> requeue_limit;
  base::Millis first_pause_ms = 60'000, longest_pause_ms = 3'600'000;
  bool keeps_place = false;  // it stands in line since its creation, and not since it had to leave
  friend bool operator==(const PodsReadyRule&, const PodsReadyRule&) = default;
};

// What dialects are told of the configuration.
struct DialectSettings {
  std::vector<std::string> scheduler_names = {"tutti"};  // that are served; pods made for users get the first
  PodsReadyRule pods_ready;
  model::Fit fit = model::Fit::kNodes;  // of gangs of which neither their objects nor their queues say it
  bool kueue_0_8 = false;               // Workloads' conditions and Events are worded as Kueue 0.8 does
};

// Kueue, QuotaSubtree, AppWrapper, Volcano, scheduler-plugins, upstream, YuniKorn, KubeRay, plain pods.
DialectList MakeDialects(const DialectSettings& settings = {});

}  // namespace tutti::dialects
