// SPDX-License-Identifier: Apache-2.0
#include "dialects/wording.h"

#include <fmt/format.h>

#include "dialects/hyper_nodes.h"

namespace tutti::dialects {

std::string NamedLevel(std::string_view key) {
  const auto tier = HyperNodes::TierOf(key);
  return tier ? fmt::format("HyperNodes of tier {} or below", *tier) : Named(key);
}

std::string NobodyIn(std::string_view key) {
  const auto tier = HyperNodes::TierOf(key);
  return tier ? fmt::format("no HyperNode of tier {} or below holds a node", *tier)
              : fmt::format("no node has the label {}", Named(key));
}

}  // namespace tutti::dialects
