// SPDX-License-Identifier: Apache-2.0
// scheduler-plugins (coscheduling): pods name their PodGroup in a label.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "dialects/dialect.h"
#include "dialects/pod_groups.h"

namespace tutti::dialects {

class SchedulerPlugins final : public Dialect {
 public:
  SchedulerPlugins();

  std::string_view name() const override { return "scheduler-plugins"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object> object, Touched* touched) override;
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) override;
  void Served(std::string_view kind_name, bool served, Touched* touched) override;
  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override { return groups_.Describe(key); }
  base::Millis Desire(const GangReport& report, const cluster::Unseen& unseen,
                      std::vector<cluster::DesiredObject>* out) const override;
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const override {
    return groups_.EventTarget(key);
  }

 private:
  static model::ObjectKind RayClusterKind();
  void PutGroup(std::shared_ptr<const model::Object> object, Touched* touched);
  // KubeRay writes minMember when it makes the PodGroup, and not again when the RayCluster shrinks. More pods than it
  // makes are not waited for.
  void FollowCluster(const model::Object& group, model::GangSpec* gang) const;
  struct RayCluster {
    int64_t pods = 0;  // that KubeRay makes for it; 0: unknown
    std::string uid;
    friend bool operator==(const RayCluster&, const RayCluster&) = default;
  };
  void PutCluster(const std::string& ns, const std::string& name, RayCluster cluster, Touched* touched);

  PodGroupTable groups_;
  const std::vector<model::ObjectKind> kinds_{groups_.kind(), RayClusterKind()};
  std::map<std::pair<std::string, std::string>, RayCluster> clusters_;  // by namespace and name
};

}  // namespace tutti::dialects
