// SPDX-License-Identifier: Apache-2.0
// WrapperSpec: what an AppWrapper declares, of either version: the items in spec.resources (v1beta1) or spec.components
// (v1beta2), and how long they are given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dialects/appwrapper_item.h"
#include "dialects/appwrapper_periods.h"
#include "dialects/dialect.h"
#include "model/object.h"

namespace tutti::dialects {

struct WrapperSpec {
  bool components = false;  // v1beta2
  bool suspended = false;   // nothing of it is to be there
  bool foreign = false;     // it names another controller, which alone acts on it
  std::vector<WrappedItem> items;
  std::optional<int32_t> priority;
  int32_t priority_slope = 0;  // v1beta1; model::GangSpec::priority_slope
  model::Fit fit = model::Fit::kNodes;
  WrapperPeriods periods;  // v1beta2
  Requeuing requeuing;     // v1beta1
  // Where what is declared of pods differs from what they are, in what; empty: in nothing.
  std::string remark;
  std::string fault;    // why nothing of it can be created, by the field; empty: nothing is wrong
  std::string problem;  // the same, with the AppWrapper's name

  int64_t PodCount() const;
};

WrapperSpec ReadWrapper(const model::Object& wrapper, const DialectSettings& settings);

// The part of the object that ReadWrapper reads: where it is as it was, so is the spec.
bool SameDeclaration(const model::Object& a, const model::Object& b);

}  // namespace tutti::dialects
