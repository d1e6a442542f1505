// SPDX-License-Identifier: Apache-2.0
// Text that users wrote: by characters of UTF-8, and its words for yes and no.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::base {

// The beginning of `text`, `limit` bytes at most, with no character in part.
std::string_view Cut(std::string_view text, size_t limit);

// The bytes of the character at text[at]; 0: there is none. REQUIRES: at < text.size()
size_t CharacterAt(std::string_view text, size_t at);

// Returns the text with the ASCII letters in lower case.
std::string LowerCase(std::string_view text);

// As strconv.ParseBool of Go reads it; nullopt: it is neither true nor false.
std::optional<bool> ParseGoBool(std::string_view text);

}  // namespace tutti::base
