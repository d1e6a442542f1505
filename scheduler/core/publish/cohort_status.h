// SPDX-License-Identifier: Apache-2.0
// CohortStatus: tells the objects of cohorts their shares, where queues share by how much each borrows. A cohort whose
// share may have changed is reported, ten times a second at most; while a write for it is on its way it is not.
#pragma once

#include <optional>
#include <string>

#include "core/admit/quota_desk.h"
#include "core/publish/due_reports.h"
#include "core/publish/object_keeper.h"

namespace tutti::core {

class CohortStatus final : public ObjectKeeper::Owner {
 public:
  CohortStatus(QuotaDesk& desk, ObjectKeeper& keeper, const base::Clock& clock)
      : desk_(desk), keeper_(keeper), clock_(clock) {}

  // Marks the cohorts around the queue: what it has is part of what they have.
  void MarkAround(const std::string& leaf);
  // Reports the cohorts that are marked or declared again, if it is time.
  void Publish();
  // Returns when Publish has something to do (monotonic); nullopt: no cohort is marked.
  std::optional<base::Millis> DueAt() const { return due_.DueAt(); }

  void Restate(const ObjectKeeper::Subject& subject, base::Millis at_ms) override;

 private:
  void Report(const std::string& cohort);

  QuotaDesk& desk_;
  ObjectKeeper& keeper_;
  const base::Clock& clock_;
  DueReports<std::string> due_;
};

}  // namespace tutti::core
