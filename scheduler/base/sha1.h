// SPDX-License-Identifier: Apache-2.0
// SHA-1 (RFC 3174), for names that other programs make with it. It protects nothing.
#pragma once

#include <string>
#include <string_view>

namespace tutti::base {

// The digest as 40 hexadecimal digits.
std::string Sha1Hex(std::string_view text);

}  // namespace tutti::base
