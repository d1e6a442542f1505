// SPDX-License-Identifier: Apache-2.0
// /metrics/resources: the requests of each pod, as kube-scheduler shows them.
#pragma once

#include <string>

#include "core/scheduler.h"

namespace tutti::app {

// Renders Prometheus' text: one series for each resource of each pod that has not ended. Limits are not shown, because
// pods do not keep them here.
std::string PodResourcesText(const core::Scheduler::PodList& pods);

}  // namespace tutti::app
