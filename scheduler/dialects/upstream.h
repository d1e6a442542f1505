// SPDX-License-Identifier: Apache-2.0
// Upstream's own gangs: pods name a scheduling.k8s.io PodGroup in spec.schedulingGroup.
#pragma once

#include "dialects/dialect.h"
#include "dialects/pod_groups.h"

namespace tutti::dialects {

class Upstream final : public Dialect {
 public:
  Upstream();

  std::string_view name() const override { return "upstream"; }
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
  PodGroupTable groups_;
  const std::vector<model::ObjectKind> kinds_{groups_.kind()};
};

}  // namespace tutti::dialects
