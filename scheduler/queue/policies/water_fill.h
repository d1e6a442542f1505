// SPDX-License-Identifier: Apache-2.0
// WaterFill: divides an amount among claims by weight, max-min fair.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::queue {

struct Claim {
  int64_t weight = 1;  // above zero, at most 65,535
  int64_t floor = 0;   // has this in any case, whatever the total
  int64_t most = 0;    // never more than this, but for its floor
};

// Returns what each claim has: the level L for which the sum of max(floor, min(most, L * weight)) is `total`, in whole
// units. The units that rounding leaves go one each to the largest remainders. Floors that are more than `total`
// together stay. The sum is the lesser of `total` and what all may have at most, or the floors if those are more. Costs
// n log n; exact for all amounts. REQUIRES: at most 2^32 claims; no amount below zero.
std::vector<int64_t> WaterFill(int64_t total, std::span<const Claim> claims);

}  // namespace tutti::queue
