// SPDX-License-Identifier: Apache-2.0
// `tutti demo`: two RayClusters in a Volcano queue with room for one, told step by step with what kubectl would print.
#pragma once

namespace tutti::app {

// 0 only if everything that the story says came true.
int Demo();

}  // namespace tutti::app
