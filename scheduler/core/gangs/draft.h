// SPDX-License-Identifier: Apache-2.0
// Drafts of gangs.
#pragma once

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "model/gang_draft.h"

namespace tutti::core {

// Returns the gang with its members that have not ended, and with those that are promised.
model::GangDraft DraftOf(const Gang& gang, const cluster::ClusterState& state);

}  // namespace tutti::core
