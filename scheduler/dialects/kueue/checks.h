// SPDX-License-Identifier: Apache-2.0
// Admission checks that a ProvisioningRequest answers: a Workload with quota asks an autoscaler for nodes, and is
// admitted once there are some. Pure functions.
//
// Which attempt it is, is in the check's status (retryCount), so a request that failed is known from the one that
// follows it by its name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/desired.h"
#include "dialects/kueue/queues.h"
#include "dialects/kueue/workloads.h"
#include "dialects/report.h"

namespace tutti::dialects::kueue {

const model::ObjectKind& RequestKind();
const model::ObjectKind& TemplateKind();  // PodTemplate

// How a check stands now.
struct CheckUpdate {
  std::string name, state, message;
  int64_t retry_count = 0;
  base::Json pod_set_updates;      // null: none
  base::Millis requeue_at_ms = 0;  // of a Retry
  bool operator==(const CheckUpdate&) const = default;
};

// What is asked of one check's autoscaler.
struct Provisioning {
  std::string check, request;     // names; of the attempt that counts
  int64_t retry_count = 0;        // attempts before it
  std::vector<std::string> sets;  // the pod sets that need it; empty: none does
  std::shared_ptr<const model::Object> config;
};

// The checks of these that a ProvisioningRequest answers, for what the Workload was given. `status` is its status.
std::vector<Provisioning> ProvisioningOf(const Entry& entry, const Queues& queues,
                                         const std::vector<std::string>& checks, const base::Json& status);

// How the check stands by its request. `admitted`: its Workload is; then a booking may expire.
CheckUpdate UpdateOf(const Provisioning& provisioning, const Owned& owned, bool admitted, base::Millis now_wall_ms);

// The request and its templates where the check still waits, and the end of those of earlier attempts. With quota given
// back, or once the job has ended: the end of all.
void DesireRequests(const std::vector<Provisioning>& wanted, const Entry& entry, const Owned& owned,
                    const Queues& queues, const std::shared_ptr<const model::Object>& workload,
                    const base::Json& status, const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out);

}  // namespace tutti::dialects::kueue
