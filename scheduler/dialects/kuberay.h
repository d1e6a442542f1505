// SPDX-License-Identifier: Apache-2.0
// KubeRay without a batch scheduler: the RayCluster itself declares the gang, its head and its worker groups being
// roles. This is also what pods for kai-scheduler are, to which KubeRay adds no more than a label.
#pragma once

#include "dialects/dialect.h"
#include "dialects/pod_groups.h"
#include "dialects/priority.h"

namespace tutti::dialects {

class KubeRay final : public Dialect {
 public:
  KubeRay();

  std::string_view name() const override { return "kuberay"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object> object, Touched* touched) override;
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) override;
  void Served(std::string_view kind_name, bool served, Touched* touched) override;
  // Heads and workers. Before RayCluster is served for the first time, only those that a RayCluster made: of others,
  // which have no more than the labels, nothing could say how many there are to be.
  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override { return clusters_.Describe(key); }
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const override {
    return clusters_.EventTarget(key);
  }

 private:
  model::GangSpec Read(const model::Object& object) const;
  void PutCluster(std::shared_ptr<const model::Object> object, Touched* touched);
  void ReadAgain(std::string_view priority_class, Touched* touched);

  PodGroupTable clusters_;
  const std::vector<model::ObjectKind> kinds_{clusters_.kind(), PriorityClasses::Kind()};
  bool has_volcano_queues_ = false;  // a RayCluster may name one by its label
  bool was_served_ = false;          // RayCluster, at some time
  PriorityClasses priorities_;
};

}  // namespace tutti::dialects
