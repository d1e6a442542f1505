// SPDX-License-Identifier: Apache-2.0
// Kueue: jobs that wait for quota before they make pods. A job with the label of a LocalQueue is kept suspended, gets a
// Workload, and starts once that has quota of its ClusterQueue and nodes.
//
// Where Kueue itself runs, nothing is written, and pods of its jobs are in no gang of this dialect.
#pragma once

#include "dialects/dialect.h"
#include "dialects/kueue/queues.h"
#include "dialects/kueue/topology_assignment.h"
#include "dialects/kueue/workloads.h"
#include "dialects/queued_jobs.h"

namespace tutti::dialects::kueue {

class Kueue final : public Dialect, public JobQueues {
 public:
  explicit Kueue(DialectSettings settings = {});
  // Tells who carries out the AppWrappers that wait here. It must outlive this, or be gone when this is not asked.
  void SetController(const JobController* of_wrappers) { wrappers_ = of_wrappers; }

  std::string_view name() const override;
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object> object, Touched* touched) override;
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) override;
  void Served(std::string_view kind_name, bool served, Touched* touched) override;

  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override;
  std::string_view SchedulerName(const model::GangKey& key) const override;

  std::optional<model::Flavor> DescribeFlavor(std::string_view name) const override;
  std::optional<model::CohortSpec> DescribeCohort(std::string_view name) const override;
  std::optional<model::LeafQueueSpec> DescribeLeaf(std::string_view name) const override;
  std::optional<model::LocalQueueSpec> DescribeLocal(std::string_view ns, std::string_view name) const override;

  std::optional<model::GangKey> GangOfJob(const model::Object& job) const override;
  bool AreOpen() const override { return writes(); }
  const model::ObjectKind& SwitchKind() const override;

  // It also learns which labels the node has.
  void AddNodeLabels(const model::Node& node, model::StringMap* labels, Touched* touched) override;
  void DropNode(std::string_view name) override { nodes_.erase(std::string(name)); }

  base::Millis Desire(const GangReport& report, const cluster::Unseen& unseen,
                      std::vector<cluster::DesiredObject>* out) const override;
  void DesireOfSharing(const SharingReport& report, const cluster::Unseen& unseen,
                       std::vector<cluster::DesiredObject>* out) const override;
  void Announce(const GangReport& before, const GangReport& now, std::vector<ObjectEvent>* out) const override;
  // The job that has no Workload yet, or the first of its pods where they are held one by one: nothing else says why.
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const override;

 private:
  bool writes() const { return served_ && !foreign_; }
  void FollowQueues(const Touched& queues, Touched* touched);

  const DialectSettings settings_;
  Queues queues_;
  Workloads workloads_{queues_, settings_};
  NodeLabels nodes_;
  const JobController* wrappers_ = nullptr;
  std::vector<model::ObjectKind> kinds_;
  std::string version_ = "v1beta2";  // of Kueue's kinds, as they are served
  bool served_ = true;               // Workloads are; until told otherwise
  bool foreign_ = false;             // Kueue's own webhooks are there
};

}  // namespace tutti::dialects::kueue
