// SPDX-License-Identifier: Apache-2.0
// `kubectl tutti top`: gangs, queues and nodes on all of a terminal, every two seconds. If standard output is no
// terminal, they are printed once.
#pragma once

#include <string>

#include "app/door_client.h"

namespace tutti::app {

// `ns`: of the gangs; empty: all. Error: there is no answer at the beginning, or standard output takes no more.
base::Status Top(DoorClient& door, const std::string& ns, const base::Clock& clock);

}  // namespace tutti::app
