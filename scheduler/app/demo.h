// SPDX-License-Identifier: Apache-2.0
// `tutti demo`: two RayClusters in a Volcano queue with room for one. It shows each step with what kubectl would print.
#pragma once

namespace tutti::app {

// Runs the demo. Returns 0 only if everything that it claims came true.
int Demo();

}  // namespace tutti::app
