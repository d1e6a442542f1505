// SPDX-License-Identifier: Apache-2.0
// Drafts: gangs, and pods, as they would be if they were made now.
#pragma once

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "model/gang_draft.h"
#include "model/gang_rank.h"

namespace tutti::core {

// Returns the pod unbound and without status.
std::shared_ptr<const model::Pod> Afresh(const model::Pod& pod);

// Returns its priority, as GangBook::Priority has it; and where it has its turn.
int32_t PriorityOf(const model::GangDraft& draft);
model::GangRank RankOf(const model::GangDraft& draft);

// Returns the gang with its members that have not ended, and with those that are promised.
model::GangDraft DraftOf(const Gang& gang, const cluster::ClusterState& state);

}  // namespace tutti::core
