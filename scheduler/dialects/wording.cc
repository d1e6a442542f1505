// SPDX-License-Identifier: Apache-2.0
#include "dialects/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tutti::dialects {
namespace {

constexpr size_t kNameBytes = 80, kLineBytes = 512;

bool Ordinary(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' || c == '/'; }

// The length of the UTF-8 sequence at text[at], or 0 if there is none.
size_t SequenceAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : (first & 0xF0) == 0xE0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = at + 1; i < at + length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and what is beyond U+10FFFF.
  if (first == 0xE0 && byte(at + 1) < 0xA0) return 0;
  if (first == 0xED && byte(at + 1) > 0x9F) return 0;
  if (first == 0xF0 && byte(at + 1) < 0x90) return 0;
  if (first == 0xF4 && byte(at + 1) > 0x8F) return 0;
  return length;
}

std::string Printable(std::string_view text, size_t limit) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    if (line.size() >= limit) return line + "…";
    const size_t length = SequenceAt(text, at);
    if (length == 0 || static_cast<unsigned char>(text[at]) == 0x7F) line += '?';
    else if (static_cast<unsigned char>(text[at]) < 0x20) line += ' ';
    else line += text.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return line;
}

}  // namespace

std::string Named(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), Ordinary);
  return plain ? std::string(name) : fmt::format("\"{}\"", Printable(name, kNameBytes));
}

std::string Named(std::string_view kind, std::string_view ns, std::string_view name) {
  return ns.empty() ? fmt::format("{} {}", kind, Named(name)) : fmt::format("{} {}/{}", kind, Named(ns), Named(name));
}

std::string OneLine(std::string_view text) { return Printable(text, kLineBytes); }

std::string Join(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  const bool ended = first.back() == '.' || first.back() == ':' || first.back() == ';';
  return first + (ended ? " " : ". ") + second;
}

}  // namespace tutti::dialects
