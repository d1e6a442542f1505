// SPDX-License-Identifier: Apache-2.0
// What Prometheus' text format and our metrics' units ask of names and amounts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::observe {

// Returns `text` as it stands between the quotes of a label's value.
std::string LabelValue(std::string_view text);

// Returns the amount in the resource's own unit: cpu in cores, which is counted in thousandths.
double AmountOf(std::string_view resource, int64_t amount);

}  // namespace tutti::observe
