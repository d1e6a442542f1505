// SPDX-License-Identifier: Apache-2.0
// Pseudonyms: takes out of objects what tells whose they are, and keeps what decisions depend on.
//
// Each text gets one pseudonym, wherever it stands, so names, references and selectors still fit each other. Pseudonyms
// sort as the texts do, because the scheduler breaks ties by name. What stays: keys of maps, such as those of labels
// and resources, and texts that equal one; numbers and times; uids; words of Kubernetes, which begin with a capital
// letter, unless a label has that value; names with a domain, such as nvidia.com/gpu.
#pragma once

#include <vector>

#include "base/json_fwd.h"

namespace tutti::app {

void Pseudonymize(std::vector<base::Json>* objects);

}  // namespace tutti::app
