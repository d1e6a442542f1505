// SPDX-License-Identifier: Apache-2.0
// Plain pods: each is a gang of one. The last dialect, for it takes every pod.
#pragma once

#include "dialects/dialect.h"

namespace tutti::dialects {

class Plain final : public Dialect {
 public:
  std::string_view name() const override { return "plain"; }
  void Put(std::shared_ptr<const model::Object>, Touched*) override {}
  void Drop(std::string_view, std::string_view, std::string_view, Touched*) override {}
  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override;
};

}  // namespace tutti::dialects
