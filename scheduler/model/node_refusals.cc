// SPDX-License-Identifier: Apache-2.0
#include "model/node_refusals.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::model {

void NodeRefusals::SetReasons(const std::map<std::string, size_t>& count) {
  reasons.assign(count.begin(), count.end());
  std::ranges::sort(reasons, {}, [](const auto& item) { return fmt::format("{} {}", item.second, item.first); });
}

std::string NodeRefusals::Sentence() const {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::string list = of_class;
  for (const auto& [reason, count] : reasons) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
  return list.empty() ? fmt::format("0/{} nodes are available:", nodes)
                      : fmt::format("0/{} nodes are available: {}.", nodes, list);
}

}  // namespace tutti::model
