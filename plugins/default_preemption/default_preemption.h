// SPDX-License-Identifier: Apache-2.0
// DefaultPreemption: under a profile that has it, pods of lower priority are evicted for a pod that finds no node. Its
// args say on how many nodes they are sought. The search is the scheduler's own (core/place/lone_preemption.h).
#pragma once

#include <memory>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/profile.h"

namespace tutti::plugins {

class DefaultPreemption final : public framework::Plugin {
 public:
  explicit DefaultPreemption(const framework::PreemptionArgs& args) : args_(args) {}

  // `args`: a DefaultPreemptionArgs, or null. Error kInvalid names the field.
  static base::Result<std::shared_ptr<DefaultPreemption>> Make(const base::Json& args);

  std::string_view name() const override { return "DefaultPreemption"; }
  const framework::PreemptionArgs& args() const { return args_; }

 private:
  const framework::PreemptionArgs args_;
};

}  // namespace tutti::plugins
