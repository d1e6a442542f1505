// SPDX-License-Identifier: Apache-2.0
// sim/objects/quantity_text.h - the canonical spelling the API server gives to quantities:
// 1000m is "1", 0.5 is "500m", 1024Mi is "1Gi", the number 2 is "2".
#pragma once

#include <optional>
#include <string>

#include "sim/objects/object.h"

namespace tutti::sim {

// Nothing when `value` is not a quantity (a string or a number that parses as one).
std::optional<std::string> CanonicalQuantity(const Json& value);

// Rewrites every value of a resource list that is a quantity; leaves others for validation to name.
void CanonicalizeResources(Json& resource_list);

// -1, 0, 1 as a is less than, equal to, greater than b. REQUIRES: both parse.
int CompareQuantities(const std::string& a, const std::string& b);

// a + b and quantity * by, spelled in the form (binary, decimal) of `a`, or of `b` where `a` is zero. They stop at the
// largest quantity there is. REQUIRES: all parse.
std::string AddQuantities(const std::string& a, const std::string& b);
std::string MultiplyQuantity(const std::string& quantity, int64_t by);

}  // namespace tutti::sim
