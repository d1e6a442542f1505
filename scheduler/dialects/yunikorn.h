// SPDX-License-Identifier: Apache-2.0
// YuniKorn: pods carry the gang with them, as task groups in an annotation. There is no object to watch or to write.
// Its queues are in a ConfigMap of its own, which is not read: the queue that a pod names limits nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "dialects/dialect.h"

namespace tutti::dialects {

class YuniKorn final : public Dialect {
 public:
  std::string_view name() const override { return "yunikorn"; }
  void Put(std::shared_ptr<const model::Object>, Touched*) override {}
  void Drop(std::string_view, std::string_view, std::string_view, Touched*) override {}
  // Pods without task groups are no gang in YuniKorn either: they are left to the next dialect.
  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override;

 private:
  struct Said {
    std::string task_groups, parameters;
    model::GangSpec spec;
  };
  // `parameters` may be on one of the pods alone; null: this one says nothing of them.
  std::shared_ptr<const model::GangSpec> Declared(const model::GangKey& key, const std::string& task_groups,
                                                  const std::string* parameters) const;

  // By namespace and name, what was last said of an application: each pod repeats it, and it is read once for all that
  // say the same. Here for as long as the gang holds it; what it does not is swept.
  mutable std::map<std::pair<std::string, std::string>, std::weak_ptr<const Said>> said_;
  mutable size_t sweep_at_ = 256;
};

}  // namespace tutti::dialects
