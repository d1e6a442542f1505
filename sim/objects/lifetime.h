// SPDX-License-Identifier: Apache-2.0
// sim/objects/lifetime.h - how long a pod runs and stops, as its annotations say.
//
//   sim.tutti.dev/run-for     the pod succeeds after this time ("30s", "5m", "1d"); without it it runs on
//   sim.tutti.dev/exit-code   what it then exits with; not 0: it fails
//   sim.tutti.dev/stop-after  how long it takes to stop when deleted, at most its grace period; at once without it
#pragma once

namespace tutti::sim {

inline constexpr const char* kRunForAnnotation = "sim.tutti.dev/run-for";
inline constexpr const char* kExitCodeAnnotation = "sim.tutti.dev/exit-code";
inline constexpr const char* kStopAfterAnnotation = "sim.tutti.dev/stop-after";

}  // namespace tutti::sim
