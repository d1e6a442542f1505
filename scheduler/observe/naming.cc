// SPDX-License-Identifier: Apache-2.0
#include "observe/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace tutti::observe {
namespace {

constexpr size_t kNameBytes = 80, kLineBytes = 512;

bool Ordinary(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' || c == '/';
}

std::string Printable(std::string_view text, size_t limit) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    if (line.size() >= limit) return line + "…";
    const size_t length = base::CharacterAt(text, at);
    if (length == 0 || static_cast<unsigned char>(text[at]) == 0x7F)
      line += '?';
    else if (static_cast<unsigned char>(text[at]) < 0x20)
      line += ' ';
    else
      line += text.substr(at, length);
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

}  // namespace tutti::observe
