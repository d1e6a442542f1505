// SPDX-License-Identifier: Apache-2.0
// The statuses of ClusterQueues and LocalQueues as Kueue writes them, in the fields of both versions. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "dialects/report.h"
#include "model/sharing_queue.h"

namespace tutti::dialects::kueue {

// An amount as Kueue prints it: cpu and what is counted in powers of ten, memory and other storage in powers of two,
// with the largest suffix that leaves it whole ("1500m", "2", "7812500Ki").
std::string QuantityText(std::string_view resource, int64_t amount);

// Sets the condition in the list; it keeps its time while its status stays.
void SetCondition(std::string_view type, bool status, std::string_view reason, std::string_view message,
                  base::Millis now_wall_ms, base::Json* conditions);

// The fields of `status` but its conditions.
base::Json LeafStatus(const model::LeafQueueSpec& leaf, const SharingReport& report);
// Field `fairSharing`; null where queues do not share by that.
base::Json ShareStatus(const SharingReport& report);
base::Json LocalStatus(const model::LeafQueueSpec* leaf, bool stopped, const SharingReport& report);

// Tells whether an object has the fields, times of conditions apart.
bool AgreesWithoutTimes(const base::Json& fields, const base::Json& object);

}  // namespace tutti::dialects::kueue
