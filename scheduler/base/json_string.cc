// SPDX-License-Identifier: Apache-2.0
#include "base/json_string.h"

#include <cstdint>
#include <cstring>

#include "base/json.h"

namespace tutti::base {
namespace {

// Some character needs an escape, or is not of ASCII. Eight are looked at at a time.
bool AnySpecial(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x80 * kOnes;
  const auto has_zero = [](uint64_t x) { return (x - kOnes) & ~x & kHighs; };
  const auto special = [&](uint64_t x) {
    const uint64_t control = (x - ' ' * kOnes) & ~x & kHighs;
    const uint64_t beyond = ((x + kOnes) | x) & kHighs;  // DEL, and what is not of ASCII
    return control | beyond | has_zero(x ^ '"' * kOnes) | has_zero(x ^ '\\' * kOnes);
  };
  uint64_t found = 0, word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    found |= special(word);
  }
  word = ' ' * kOnes;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return (found | special(word)) != 0;
}

}  // namespace

// Names, UIDs and most sentences need no more than the quotes.
void AppendQuoted(std::string_view text, std::string* to) {
  if (!AnySpecial(text))
    to->append(1, '"').append(text).append(1, '"');
  else
    *to += base::Json(text).dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

}  // namespace tutti::base
