// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_options.h - which KubeRay operator the embedded cluster stands for.
#pragma once

#include <string_view>

#include "base/result.h"

namespace tutti::sim {

// --batch-scheduler of the operator.
enum class BatchScheduler { kNone, kVolcano, kSchedulerPlugins, kYunikorn, kKai };

// k1_4: v1.4.2, compared object by object with the operator itself. k1_7: what later releases do differently for
// schedulers (PodGroups of RayJobs, kai-scheduler, schedulerName of scheduler-plugins, replica labels).
enum class KubeRayRelease { k1_4, k1_7 };

struct KubeRayOptions {
  BatchScheduler batch_scheduler = BatchScheduler::kNone;
  KubeRayRelease release = KubeRayRelease::k1_4;
};

// "", "volcano", "scheduler-plugins", "yunikorn", "kai-scheduler"; the operator does not start with any other, nor
// does one of release 1.4 with kai-scheduler. Error: kInvalid.
base::Result<BatchScheduler> ParseBatchScheduler(std::string_view name, KubeRayRelease release);

}  // namespace tutti::sim
