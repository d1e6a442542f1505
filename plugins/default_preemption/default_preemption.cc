// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/default_preemption.h"

#include <cstdint>
#include <limits>

#include "plugins/common/args.h"

namespace tutti::plugins {

base::Result<std::shared_ptr<DefaultPreemption>> DefaultPreemption::Make(const base::Json& given) {
  const std::string_view path = "DefaultPreemptionArgs";
  constexpr const char *kPercent = "minCandidateNodesPercentage", *kAbsolute = "minCandidateNodesAbsolute";
  framework::PreemptionArgs args;
  if (const auto checked = CheckFields(given, path, {kPercent, kAbsolute}); !checked)
    return tl::make_unexpected(checked.error());
  const auto percent = Field<int64_t>(given, path, kPercent, args.min_candidates_percent);
  if (!percent) return tl::make_unexpected(percent.error());
  const auto absolute = Field<int64_t>(given, path, kAbsolute, args.min_candidates);
  if (!absolute) return tl::make_unexpected(absolute.error());
  if (*percent < 0 || *percent > 100)
    return base::Invalid("DefaultPreemptionArgs.minCandidateNodesPercentage: not in valid range [0, 100]");
  if (*absolute < 0 || *absolute > std::numeric_limits<int32_t>::max())
    return base::Invalid("DefaultPreemptionArgs.minCandidateNodesAbsolute: not in valid range [0, inf)");
  if (*percent == 0 && *absolute == 0)
    return base::Invalid(
        "DefaultPreemptionArgs: cannot use both minCandidateNodesPercentage and minCandidateNodesAbsolute with value "
        "zero");
  args.min_candidates_percent = static_cast<int32_t>(*percent);
  args.min_candidates = static_cast<int32_t>(*absolute);
  return std::make_shared<DefaultPreemption>(args);
}

}  // namespace tutti::plugins
