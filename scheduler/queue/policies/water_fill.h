// SPDX-License-Identifier: Apache-2.0
// WaterFill: divides an amount among claims by weight, with max-min fairness.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::queue {

struct Claim {
  int64_t weight = 1;  // above zero, at most 65,535
  int64_t floor = 0;   // the claim gets this, whatever the total is
  int64_t most = 0;    // the claim gets no more than this, except its floor
};

// Returns what each claim gets, in whole units: max(floor, min(most, L * weight)), with the level L for which the sum
// is `total`. The units that rounding leaves go one each to the largest remainders. The sum is less than `total` if all
// claims get their most, and more if the floors alone are more. Costs n log n; exact for all amounts. REQUIRES: at most
// 2^32 claims; no amount below zero.
std::vector<int64_t> WaterFill(int64_t total, std::span<const Claim> claims);

}  // namespace tutti::queue
