// SPDX-License-Identifier: Apache-2.0
// SharingStatus: tells the objects of queues that give quota before there are pods, and of queues of a namespace that
// lead to one, what their gangs have. A queue that changed is reported, ten times a second at most; while a write for
// it is on its way it is not.
#pragma once

#include <optional>

#include "core/admit/quota_desk.h"
#include "core/publish/announcer.h"
#include "core/publish/cohort_status.h"
#include "core/publish/due_reports.h"
#include "core/publish/object_keeper.h"

namespace tutti::core {

class SharingStatus final : public ObjectKeeper::Owner {
 public:
  SharingStatus(QuotaDesk& desk, ObjectKeeper& keeper, CohortStatus& cohorts, const Announcer& announcer,
                const base::Clock& clock)
      : desk_(desk), keeper_(keeper), cohorts_(cohorts), announcer_(announcer), clock_(clock) {}

  // Reports the queues that changed, if it is time.
  void Publish();
  // Returns when Publish has something to do (monotonic); nullopt: no queue changed.
  std::optional<base::Millis> DueAt() const { return due_.DueAt(); }

  void Restate(const ObjectKeeper::Subject& subject, base::Millis at_ms) override;

 private:
  using QueueName = QuotaCounts::QueueName;
  void Report(const QueueName& queue);
  dialects::SharingReport ReportOf(const QueueName& queue) const;
  void Announce(const QueueName& name, const dialects::SharingReport& report) const;

  QuotaDesk& desk_;
  ObjectKeeper& keeper_;
  CohortStatus& cohorts_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  DueReports<QueueName> due_;
};

}  // namespace tutti::core
