// SPDX-License-Identifier: Apache-2.0
// Volcano: pods name their PodGroup in an annotation, the PodGroup its Queue and where in the HyperNodes it may be.
#pragma once

#include "dialects/dialect.h"
#include "dialects/hyper_nodes.h"
#include "dialects/pod_groups.h"
#include "dialects/priority.h"
#include "dialects/sub_groups.h"
#include "dialects/volcano_queues.h"

namespace tutti::dialects {

class Volcano final : public Dialect {
 public:
  Volcano();

  std::string_view name() const override { return "volcano"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object> object, Touched* touched) override;
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) override;
  void Served(std::string_view kind_name, bool served, Touched* touched) override;
  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override { return groups_.Describe(key); }
  std::string_view SchedulerName(const model::GangKey& key) const override;
  void AddNodeLabels(const model::Node& node, model::StringMap* labels, Touched* touched) override;
  std::optional<model::QueueSpec> DescribeQueue(std::string_view name) const override { return queues_.Describe(name); }
  base::Millis Desire(const GangReport& report, const cluster::Unseen& unseen,
                      std::vector<cluster::DesiredObject>* out) const override;
  void DesireOfQueue(const QueueReport& report, const cluster::Unseen& unseen,
                     std::vector<cluster::DesiredObject>* out) const override {
    queues_.Desire(report, unseen, out);
  }
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const override {
    return groups_.EventTarget(key);
  }
  std::optional<EvictionNotes> NotesOfEviction(EvictedFor why) const override {
    const std::string action = why == EvictedFor::kShare ? "reclaim" : "preempt";
    return EvictionNotes{"Evict", "Pod is evicted, because of " + action, action};
  }

 private:
  struct Declaration {
    model::GangSpec gang;
    std::vector<SubGroupPolicy> sub_groups;
  };
  Declaration Read(const model::Object& object) const;
  void PutGroup(std::shared_ptr<const model::Object> object, Touched* touched);
  void ReadAgainOfClass(std::string_view priority_class, Touched* touched);
  void ReadAgainWithTopology(Touched* touched);

  PodGroupTable groups_;
  const std::vector<model::ObjectKind> kinds_{groups_.kind(), VolcanoQueues::Kind(), VolcanoCommands::Kind(),
                                              PriorityClasses::Kind(), HyperNodes::Kind()};
  VolcanoQueues queues_;
  PriorityClasses priorities_;
  HyperNodes hyper_nodes_;
  std::map<std::pair<std::string, std::string>, std::vector<SubGroupPolicy>> sub_groups_;  // of groups that have some
};

}  // namespace tutti::dialects
