// SPDX-License-Identifier: Apache-2.0
// /metrics/resources: what each pod of the cluster asks for, as kube-scheduler shows it.
#pragma once

#include <string>

#include "core/scheduler.h"

namespace tutti::app {

// Prometheus' text, one series for each resource of each pod that has not ended. Of limits nothing is kept here.
std::string PodResourcesText(const core::Scheduler::PodList& pods);

}  // namespace tutti::app
