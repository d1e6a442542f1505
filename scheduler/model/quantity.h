// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities ("100m", "1Gi", "1e3"), exactly: never a double, never an overflow.
//
// Grammar and rounding follow k8s.io/apimachinery pkg/api/resource: suffixes n u m (none) k M G T P E, Ki Mi Gi Ti Pi
// Ei, and decimal exponents e/E. A value is rounded away from zero to the asked unit. What is larger than an int64
// saturates at the largest int64, and `saturated` says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tutti::model {

struct Quantity {
  int64_t value = 0;
  bool saturated = false;
};

// In thousandths (cpu) or in whole units (everything else). Error kInvalid: not a quantity. Negative values parse.
base::Result<Quantity> ParseMilli(std::string_view text);
base::Result<Quantity> ParseUnits(std::string_view text);

// What a person reads back, never a fraction: "1500m", "2"; "6Gi", "1500Mi".
std::string FormatCpu(int64_t milli);
std::string FormatBytes(int64_t bytes);

// a + b, a - b, a * b, stopping at the ends of int64.
int64_t SaturatingAdd(int64_t a, int64_t b);
int64_t SaturatingSub(int64_t a, int64_t b);
int64_t SaturatingMul(int64_t a, int64_t b);

}  // namespace tutti::model
