// SPDX-License-Identifier: Apache-2.0
// WaitingLine: the gangs that wait for their queue or for nodes, as drafts, in the order in which they have their turn.
// A pure function of the book.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "cluster/state.h"
#include "core/gangs/gang_book.h"
#include "model/gang_draft.h"

namespace tutti::core {

struct WaitingLine {
  // A question looks at so many pods of small gangs, some 10 ms; a gang of more is asked about alone.
  static constexpr int64_t kMostPods = 2'000;

  std::vector<model::GangDraft> drafts;
  int64_t left_out = 0;  // so many more gangs stand behind these
};

// Returns the gangs that wait and that `is_meant` is true for, at the instant (wall time): the first `most` of them.
// O(gangs).
WaitingLine LineOf(const GangBook& book, const cluster::ClusterState& state, base::Millis now_ms,
                   const std::function<bool(const Gang&)>& is_meant, size_t most = std::numeric_limits<size_t>::max());

}  // namespace tutti::core
