// SPDX-License-Identifier: Apache-2.0
// Dialect: one ecosystem's way to say gang and queue, and the status it expects back.
//
// A dialect keeps the objects of its kinds, reduced to declarations. It holds no pods, makes no decision and never sees
// the core. Scheduler thread only.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/command.h"
#include "dialects/report.h"
#include "model/gang.h"
#include "model/node.h"
#include "model/object.h"
#include "model/pod.h"

namespace tutti::dialects {

// What a change of objects touched; the engine reads the named declarations again.
struct Touched {
  std::set<model::GangKey> gangs;
  std::set<model::GangKey> members;   // MembershipOf may answer otherwise now for those that are in it
  std::set<model::GangKey> statuses;  // a status was written: what was reported may have been overwritten
  std::set<std::string> queues;
  std::set<std::string> queue_statuses;  // likewise
  bool memberships = false;              // MembershipOf may answer otherwise now, for any pod
  bool declarations = false;             // Describe may answer otherwise now, for any gang
  bool nodes = false;                    // AddNodeLabels may add others now, for any node
};

// A pod's place in a gang.
struct Membership {
  model::GangKey gang;
  std::string role;         // empty: no role
  bool head = false;        // never optional: its role's minimum is at least 1, and it is bound last
  bool needs_head = false;  // useless without one (a Ray worker): the gang waits until a head member exists
  // Who of the gang is placed first where not all fit; nullopt: by the pod's own priority.
  std::optional<int32_t> priority;
  // Nothing declares the gang but the pod itself: it is over once the pod is bound. It has the pod's namespace and
  // name.
  bool lone = false;
  // For dialects whose pods carry the declaration themselves; else null, and Describe() is asked.
  std::shared_ptr<const model::GangSpec> declared;
  // What the dialect asks for this pod's part of the gang; null: nothing, and what the pod itself says counts.
  std::shared_ptr<const model::TopologyRequest> topology;
  std::shared_ptr<const model::Unit> unit;  // that it is in; null: none
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view name() const = 0;  // "volcano"
  virtual std::vector<model::ObjectKind> Kinds() const = 0;

  virtual void Put(std::shared_ptr<const model::Object> object, Touched* touched) = 0;
  virtual void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) = 0;
  // The kind became known to be served, or not.
  virtual void Served(std::string_view /*kind_name*/, bool /*served*/, Touched*) {}

  // nullopt: not ours.
  virtual std::optional<Membership> MembershipOf(const model::Pod& pod) const = 0;
  // The gang as declared now. Where its object is missing or wrong, `problem` says so.
  virtual model::GangSpec Describe(const model::GangKey& key) const = 0;
  // By which schedulerName a gang is served that its object declares and of which there is no pod to say; empty: by
  // none, for without pods there is no gang.
  virtual std::string_view SchedulerName(const model::GangKey&) const { return {}; }
  // nullopt: no such queue.
  virtual std::optional<model::QueueSpec> DescribeQueue(std::string_view /*name*/) const { return std::nullopt; }

  // Levels of topology that the ecosystem keeps in objects of its own, as labels of the node. Their keys have two
  // slashes, so that no label that a node has itself looks like them. A node may also change what others have.
  virtual void AddNodeLabels(const model::Node&, model::StringMap* /*labels*/, Touched*) {}

  // Writes that bring the ecosystem's status objects in line with the report; none when they are. Called when a report
  // differs from the last one, and once for each gang and queue after a start.
  virtual void Report(const GangReport&, std::vector<cluster::CommandBody>* /*out*/) {}
  virtual void ReportQueue(const QueueReport&, std::vector<cluster::CommandBody>* /*out*/) {}
  // What was written last about the gang, or queue, may not have arrived: only what is observed counts. The engine has
  // one report of an object on its way at a time, so writes never overtake each other.
  virtual void ReportLost(const model::GangKey&) {}
  virtual void QueueReportLost(std::string_view /*name*/) {}

  // Where Events about the gang go besides its pods; nullopt: nowhere.
  virtual std::optional<cluster::ObjectRef> EventTarget(const model::GangKey&) const { return std::nullopt; }
};

// All dialects, in order: the first whose MembershipOf answers owns the pod. The last takes every pod.
using DialectList = std::vector<std::unique_ptr<Dialect>>;

// Volcano, scheduler-plugins, upstream, YuniKorn, KubeRay, plain pods.
DialectList MakeDialects();

}  // namespace tutti::dialects
