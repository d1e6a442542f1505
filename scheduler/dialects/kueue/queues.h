// SPDX-License-Identifier: Apache-2.0
// Queues: Kueue's objects that say how much there is and whose it is, and what depends on what among them.
//
// Scheduler thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "dialects/dialect.h"
#include "dialects/kueue/specs.h"
#include "dialects/kueue/topologies.h"

namespace tutti::dialects::kueue {

class Queues {
 public:
  static const std::vector<model::ObjectKind>& Kinds();

  // An object of another kind has no effect.
  void Put(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched);
  // LocalQueues that lead elsewhere since this was last asked, or where other checks or levels are asked for.
  std::set<std::pair<std::string, std::string>> TakeRerouted() { return std::exchange(rerouted_, {}); }

  std::optional<model::Flavor> DescribeFlavor(std::string_view name) const;
  std::optional<model::CohortSpec> DescribeCohort(std::string_view name) const;
  // A queue that is not active, for whatever reason, is stopped.
  std::optional<model::LeafQueueSpec> DescribeLeaf(std::string_view name) const;
  std::optional<model::LocalQueueSpec> DescribeLocal(std::string_view ns, std::string_view name) const;

  // The ClusterQueue that a LocalQueue leads to; empty: there is no such LocalQueue.
  std::string LeafOf(const std::string& ns, const std::string& local) const;
  // What the ClusterQueue says of what its gangs need of nodes; nullopt: nothing.
  std::optional<model::Fit> FitOf(const std::string& leaf) const;
  // The label that nodes have for a level that gangs of the ClusterQueue name.
  std::string LabelFor(const std::string& leaf, const std::string& level) const;
  void AddNodeLabels(const model::Node& node, model::StringMap* labels) const { topologies_.AddLabels(node, labels); }
  // The checks that a gang with these flavors needs in that queue; nullopt: one that may get any of its flavors.
  std::vector<std::string> ChecksOf(const std::string& leaf, const std::optional<std::set<std::string>>& flavors) const;
  const Check* FindCheck(const std::string& name) const;
  // Null: there is no such object.
  std::shared_ptr<const model::Object> FindConfig(const std::string& name) const;
  // What the flavors of one of podSetAssignments ask of the pods.
  struct FlavorTerms {
    std::map<std::string, std::string> node_selector;
    base::Json tolerations = base::Json::array();
  };
  FlavorTerms TermsOf(const base::Json& assignment) const;

  // The statuses of the queue, or the cohort, of the report, and of the queue's checks.
  void Desire(const SharingReport& report, std::vector<cluster::DesiredObject>* out) const;

 private:
  template <typename Spec>
  struct Kept {
    std::shared_ptr<const model::Object> object;  // never null
    Spec spec;
  };
  using LocalName = std::pair<std::string, std::string>;
  using Users = std::map<std::string, std::set<std::string>, std::less<>>;

  // What its status says of whether it is active: a reason and a sentence, as Kueue has them.
  struct Active {
    bool active = true;
    std::string reason, message;
  };
  Active ActiveOfLeaf(const std::string& name) const;
  Active ActiveOfLocal(const std::string& ns, const std::string& name) const;
  Active ActiveOfCheck(const std::string& name) const;

  void DropFlavor(const std::string& name, Touched* touched);
  void DropLeaf(const std::string& name, Touched* touched);
  void DropLocal(const LocalName& name, Touched* touched);
  void PutFlavor(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void PutLeaf(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void PutLocal(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void TouchLeaf(const std::string& name, Touched* touched) const;
  void Reroute(const std::string& leaf);
  void DropCohort(const std::string& name, Touched* touched);
  void PutCohort(const std::shared_ptr<const model::Object>& object, Touched* touched);
  // The leaves of the cohort and of those below it.
  void TouchBelow(const std::string& cohort, Touched* touched) const;
  void TouchUsers(const Users& users, std::string_view name, Touched* touched) const;
  // Its flavors have other levels now, and nodes other labels.
  void ReadTopologyAgain(const std::string& topology, Touched* touched);
  std::set<std::string> TopologiesOf(const Leaf& leaf) const;
  // Those of its ClusterQueues.
  void RerouteUsers(const Users& users, std::string_view name, Touched* touched);
  void RerouteChecksOf(const std::string& config, Touched* touched);
  void TouchNamespace(std::string_view ns, Touched* touched) const;
  void Index(const std::string& name, const Leaf& leaf, bool add);
  bool Takes(const Leaf& leaf, const std::string& ns) const;
  // Whether the parents of the cohort lead round in a circle.
  bool HasCircle(const std::string& cohort) const;

  std::map<std::string, Kept<model::Flavor>, std::less<>> flavors_;
  Topologies topologies_;
  std::map<std::string, Kept<model::CohortSpec>, std::less<>> cohorts_;
  std::map<std::string, Kept<Leaf>, std::less<>> leaves_;
  std::map<LocalName, Kept<model::LocalQueueSpec>> locals_;
  std::map<std::string, Kept<Check>, std::less<>> checks_;
  std::map<std::string, std::shared_ptr<const model::Object>, std::less<>> configs_;  // ProvisioningRequestConfigs
  std::map<std::string, model::StringMap, std::less<>> namespaces_;                   // their labels
  Users leaves_by_flavor_, leaves_by_check_, leaves_by_cohort_, cohorts_by_parent_, flavors_by_topology_,
      checks_by_config_;
  std::map<std::string, std::set<LocalName>, std::less<>> locals_by_leaf_;
  std::set<LocalName> rerouted_;
};

}  // namespace tutti::dialects::kueue
