// SPDX-License-Identifier: Apache-2.0
#include "base/sha1.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tutti::base {
namespace {

constexpr size_t kBlock = 64;
using State = std::array<uint32_t, 5>;

// The round's word of the choice of bits, and its constant.
uint32_t Mix(size_t round, const State& s) {
  if (round < 20) return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5A827999u;
  if (round < 40) return (s[1] ^ s[2] ^ s[3]) + 0x6ED9EBA1u;
  if (round < 60) return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8F1BBCDCu;
  return (s[1] ^ s[2] ^ s[3]) + 0xCA62C1D6u;
}

void Take(std::string_view block, State* state) {
  std::array<uint32_t, 80> words{};
  for (size_t i = 0; i < kBlock; ++i) words[i / 4] = words[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  for (size_t i = 16; i < words.size(); ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  State s = *state;
  for (size_t i = 0; i < words.size(); ++i)
    s = {std::rotl(s[0], 5) + Mix(i, s) + s[4] + words[i], s[0], std::rotl(s[1], 30), s[2], s[3]};
  for (size_t i = 0; i < s.size(); ++i) (*state)[i] += s[i];
}

}  // namespace

std::string Sha1Hex(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - 8) padded += '\0';
  const uint64_t bits = uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xFF);
  State state = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
  for (size_t at = 0; at < padded.size(); at += kBlock) Take(std::string_view(padded).substr(at, kBlock), &state);
  std::string hex;
  for (const uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace tutti::base
