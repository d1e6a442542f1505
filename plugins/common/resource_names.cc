// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/resource_names.h"

#include <fmt/format.h>

#include "plugins/common/label_syntax.h"

namespace tutti::plugins {
namespace {

bool IsPrefixedNative(std::string_view name) { return name.find("kubernetes.io/") != std::string_view::npos; }

}  // namespace

bool IsExtendedResource(std::string_view name) {
  if (name.find('/') == std::string_view::npos || IsPrefixedNative(name) || name.starts_with("requests.")) return false;
  return IsQualifiedName(fmt::format("requests.{}", name));
}

bool IsScalarResource(std::string_view name) {
  return IsExtendedResource(name) || name.starts_with("hugepages-") || IsPrefixedNative(name) ||
         name.starts_with("attachable-volumes-");
}

}  // namespace tutti::plugins
