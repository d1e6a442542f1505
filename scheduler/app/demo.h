// SPDX-License-Identifier: Apache-2.0
// `tutti demo [NAME]`: a story on the embedded cluster, each step with what kubectl would print.
#pragma once

#include <string>
#include <vector>

namespace tutti::app {

// Returns the names of the demos; the first is told if none is named.
std::vector<std::string> DemoNames();

// Runs the demo. Returns 0 only if everything that it claims came true.
int Demo(const std::string& name);

}  // namespace tutti::app
