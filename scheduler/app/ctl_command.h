// SPDX-License-Identifier: Apache-2.0
// `kubectl tutti`, which is also `tutti ctl`: asks a scheduler why gangs wait, what gangs, queues and nodes there are,
// and what would become of gangs that are not there.
#pragma once

#include <string>
#include <vector>

namespace tutti::app {

// Tells whether the program is called as the kubectl plugin, or with the verb `ctl`.
bool IsCtl(int argc, char** argv);

// Returns the exit code: 1 for an answer that is an error, or if some gang of a plan would wait; 2 for a wrong command
// line. REQUIRES: IsCtl().
int Ctl(int argc, char** argv);

}  // namespace tutti::app
