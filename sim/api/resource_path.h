// SPDX-License-Identifier: Apache-2.0
// sim/api/resource_path.h - /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::sim {

struct ResourcePath {
  std::string group;
  std::string version;
  std::string ns;  // "" for cluster-scoped resources and for all namespaces
  std::string resource;
  std::string name;         // "" for the collection
  std::string subresource;  // "" for the object itself
};

// Nothing when the path is not one of a resource.
std::optional<ResourcePath> ParseResourcePath(std::string_view path);

}  // namespace tutti::sim
