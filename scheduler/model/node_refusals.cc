// SPDX-License-Identifier: Apache-2.0
#include "model/node_refusals.h"

#include <fmt/format.h>

namespace tutti::model {

std::string NodeRefusals::Sentence() const {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::string list = of_class;
  for (const auto& [reason, count] : reasons) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
  return list.empty() ? fmt::format("0/{} nodes are available:", nodes)
                      : fmt::format("0/{} nodes are available: {}.", nodes, list);
}

}  // namespace tutti::model
