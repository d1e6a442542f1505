// SPDX-License-Identifier: Apache-2.0
// Jobs that wait in the queues of one dialect, and whose controller is another: an AppWrapper in one of Kueue's queues.
// The queues' dialect has them as gangs and lets them go; their controller's dialect creates and deletes what they
// wrap.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "cluster/desired.h"
#include "dialects/report.h"
#include "model/gang.h"
#include "model/object.h"

namespace tutti::dialects {

class JobQueues {
 public:
  // The gang that the job is; nullopt: it waits in none of the queues.
  virtual std::optional<model::GangKey> GangOfJob(const model::Object& job) const = 0;
  // Tells whether jobs wait at all. It may be otherwise after an object of SwitchKind(), and when a kind is found to be
  // served.
  virtual bool AreOpen() const = 0;
  virtual const model::ObjectKind& SwitchKind() const = 0;

 protected:
  ~JobQueues() = default;
};

class JobController {
 public:
  // Adds what is desired of a job that is such a gang, and of what it makes; as Dialect::Desire, also in what it
  // returns. `let_go`: it has its quota, and its pods may come.
  virtual base::Millis DesireOfJob(const model::Object& job, bool let_go, const GangReport& report,
                                   const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out) const = 0;

 protected:
  ~JobController() = default;
};

}  // namespace tutti::dialects
