// SPDX-License-Identifier: Apache-2.0
#include "sim/api/resource_path.h"

#include <vector>

namespace tutti::sim {
namespace {

std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

// What follows /namespaces/NAME and belongs to the Namespace itself.
bool IsOfNamespace(const std::string& part) { return part == "status" || part == "finalize"; }

}  // namespace

std::optional<ResourcePath> ParseResourcePath(std::string_view path) {
  const std::vector<std::string> parts = Split(path);
  ResourcePath out;
  size_t i;
  if (parts.size() >= 3 && parts[0] == "api") {
    out.version = parts[1];
    i = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    out.group = parts[1];
    out.version = parts[2];
    i = 3;
  } else {
    return std::nullopt;
  }
  // The deprecated spelling of watches that some clients still use.
  if (parts.size() > i + 1 && parts[i] == "watch") return std::nullopt;
  if (parts[i] == "namespaces" && parts.size() > i + 2 && !IsOfNamespace(parts[i + 2])) {
    out.ns = parts[i + 1];
    i += 2;
  }
  const size_t left = parts.size() - i;
  if (left == 0 || left > 3) return std::nullopt;
  out.resource = parts[i];
  if (left > 1) out.name = parts[i + 1];
  if (left > 2) out.subresource = parts[i + 2];
  return out;
}

}  // namespace tutti::sim
