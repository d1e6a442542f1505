// SPDX-License-Identifier: Apache-2.0
// StartEstimate: when a gang that waits could start, as a message and in sentences. Gangs of namespaces that the caller
// may not see are counted, and not named.
#pragma once

#include <tutti/v1/decisions.pb.h>

#include "doors/sight.h"
#include "observe/prospect.h"

namespace tutti::doors {

// `sight` is of all namespaces.
void Fill(const observe::StartEstimate& estimate, Sight& sight, v1::StartEstimate* to);

}  // namespace tutti::doors
