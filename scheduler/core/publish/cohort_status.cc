// SPDX-License-Identifier: Apache-2.0
#include "core/publish/cohort_status.h"

#include <utility>
#include <vector>

namespace tutti::core {

void CohortStatus::MarkAround(const std::string& leaf) {
  if (!desk_.SharesFairly()) return;
  for (const auto& [cohort, share] : desk_.SharesAbove(leaf)) due_.Mark(cohort);
}

void CohortStatus::Publish() {
  for (const std::string& cohort : desk_.TakeTouchedCohorts())
    if (desk_.SharesFairly()) due_.Mark(cohort);
  for (const std::string& cohort : due_.Take(clock_.MonotonicMs())) Report(cohort);
}

void CohortStatus::Report(const std::string& cohort) {
  dialects::Dialect* dialect = desk_.DialectOfCohort(cohort);
  if (!dialect) return;
  if (dialect->blind()) return due_.MarkLater(cohort, clock_.MonotonicMs());
  const ObjectKeeper::Subject subject{this, {std::string(dialect->name()), "", cohort}};
  if (keeper_.AwaitsReply(subject)) return;
  dialects::SharingReport report;
  report.name = cohort;
  report.is_cohort = true;
  report.share = desk_.CohortShare(cohort);
  report.now_wall_ms = clock_.WallMs();
  std::vector<cluster::DesiredObject> desired;
  dialect->DesireOfSharing(report, keeper_, &desired);
  keeper_.Want(subject, cluster::Lane::kStatus, std::move(desired));
}

void CohortStatus::Restate(const ObjectKeeper::Subject& subject, base::Millis at_ms) {
  due_.MarkAt(subject.key.name, at_ms);
}

}  // namespace tutti::core
