// SPDX-License-Identifier: Apache-2.0
// Percent(part, whole): computes 100·part / whole, cut. It needs no 64-bit division, which would be most of the cost of
// a pass over nodes.
#pragma once

#include <cstdint>

namespace tutti::plugins {

// REQUIRES: 0 <= part <= whole, whole > 0.
//
// Below 2^46 (70 TB), 100·part is exact in a double. The quotient is at most 100, so its error is less than 100·2^-53.
// A quotient that is not whole is at least 2^-46 away from the next whole number. So cutting it is exact.
inline int64_t Percent(int64_t part, int64_t whole) {
  if (whole < (int64_t{1} << 46)) [[likely]]
    return static_cast<int64_t>(static_cast<double>(part * 100) / static_cast<double>(whole));
  __extension__ using Wide = __int128;
  return static_cast<int64_t>(static_cast<Wide>(part) * 100 / whole);
}

}  // namespace tutti::plugins
