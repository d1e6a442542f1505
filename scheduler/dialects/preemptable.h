// SPDX-License-Identifier: Apache-2.0
// What pods say of themselves about being evicted for others, in the words of each ecosystem that has such words.
#pragma once

#include "model/pod.h"

namespace tutti::dialects {

// False for a pod that asks to be left alone: Volcano's annotation, or else label, volcano.sh/preemptable, which is not
// a true value of strconv.ParseBool.
bool IsPreemptable(const model::Pod& pod);

}  // namespace tutti::dialects
