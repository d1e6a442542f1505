// SPDX-License-Identifier: Apache-2.0
#include "dialects/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dialects/hyper_nodes.h"
#include "dialects/kueue/topologies.h"

namespace tutti::dialects {

std::string NamedLevel(std::string_view key) {
  if (const auto tier = HyperNodes::TierOf(key)) return fmt::format("HyperNodes of tier {} or below", *tier);
  const auto levels = kueue::LevelsOf(key);
  return Named(levels ? std::string_view(levels->back()) : key);
}

std::string NobodyIn(std::string_view key) {
  if (const auto tier = HyperNodes::TierOf(key))
    return fmt::format("no HyperNode of tier {} or below holds a node", *tier);
  const auto levels = kueue::LevelsOf(key);
  return levels ? OneLine(fmt::format("no node has all of the labels {}", fmt::join(*levels, ", ")))
                : fmt::format("no node has the label {}", Named(key));
}

}  // namespace tutti::dialects
