// SPDX-License-Identifier: Apache-2.0
// base/closest.h - "did you mean".
#pragma once

#include <string_view>
#include <vector>

namespace tutti::base {

// The word of `known` that a user most likely meant by `word`; empty when none is near.
std::string_view Closest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace tutti::base
