// SPDX-License-Identifier: Apache-2.0
// Makes the figures of a search that found nothing (observe/figures.h).
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/snapshot.h"
#include "core/place/greedy.h"
#include "core/place/problem.h"
#include "framework/ranking.h"
#include "model/ids.h"
#include "observe/figures.h"

namespace tutti::core {

using observe::Figures;
using observe::NearestDomain;

// A kind that found no node, and why.
struct Unfit {
  size_t kind = 0;
  framework::Refusals refusals;
  const std::vector<model::NodeId>* nodes = nullptr;  // that its members may be on; null: all
};

// Makes the figures of an attempt that went to the end, and of the kinds without a node that were looked at. `most`: no
// more members fit. `proven`: not all fit.
Figures MakeFigures(const Problem& problem, const Attempt& attempt, const std::vector<Unfit>& unfit, int64_t most,
                    bool proven, const cluster::Snapshot& snapshot);

}  // namespace tutti::core
