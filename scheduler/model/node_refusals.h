// SPDX-License-Identifier: Apache-2.0
// NodeRefusals: why no node takes a pod, in kube-scheduler's words.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti::model {

struct NodeRefusals {
  size_t nodes = 0;                                     // N
  std::vector<std::pair<std::string, size_t>> reasons;  // and on how many nodes each; sorted as kube-scheduler does
  std::string of_class;                                 // the class as such was refused; `reasons` is then empty

  // Of `count` nodes each.
  void SetReasons(const std::map<std::string, size_t>& count);

  // "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient nvidia.com/gpu."
  // or "no nodes available to schedule pods".
  std::string Sentence() const;
  friend bool operator==(const NodeRefusals&, const NodeRefusals&) = default;
};

}  // namespace tutti::model
