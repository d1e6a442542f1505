// SPDX-License-Identifier: Apache-2.0
// Partial admission: with how many members of each role a gang starts, where it may start with fewer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/gang_ask.h"

namespace tutti::queue {

bool MayShrink(const model::GangAsk& ask);

// Searches by halves for the counts that take away least, all roles shrinking in proportion to how far each one may,
// and for which `fits` is true. Nothing when even the minima do not fit. REQUIRES: what fits still fits when it
// shrinks.
std::optional<std::vector<int64_t>> LargestCounts(const model::GangAsk& ask,
                                                  const std::function<bool(const std::vector<int64_t>&)>& fits);

}  // namespace tutti::queue
