// SPDX-License-Identifier: Apache-2.0
// Text that users wrote, cut to a length.
#pragma once

#include <string_view>

namespace tutti::base {

// The beginning of `text`, `limit` bytes at most, with no character of UTF-8 in part.
inline std::string_view Cut(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return text.substr(0, limit);
}

}  // namespace tutti::base
