// SPDX-License-Identifier: Apache-2.0
#include "core/admit/quota_counts.h"

#include <limits>
#include <memory>
#include <vector>

#include "tests/support/catch.h"

namespace tutti::core {
namespace {

model::HeldQuota FourMembers() {
  model::HeldQuota has;
  has.leaf = "leaf";
  model::HeldQuota::Role& role = has.roles.emplace_back(model::HeldQuota::Role{"main", 4, {}, {{"cpu", "f"}}});
  role.requests.Set(model::kCpu, 4'000);
  return has;
}

TEST_CASE("what members had that have ended is taken out of the quota of their role") {
  const model::HeldQuota less = WithoutDone(FourMembers(), {{"main", 1}, {"other", 2}});
  CHECK(less.roles[0].count == 3);
  CHECK(less.roles[0].requests.Get(model::kCpu) == 3'000);
  const model::HeldQuota none = WithoutDone(FourMembers(), {{"main", 9}});
  CHECK(none.roles[0].count == 0);
  CHECK(none.roles[0].requests.Get(model::kCpu) == 0);
  CHECK(WithoutDone(FourMembers(), {}) == FourMembers());
}

TEST_CASE("gangs that have more than can be counted are counted nonetheless, and are gone when they go") {
  QuotaCounts counts;
  std::vector<std::unique_ptr<Gang>> gangs;
  for (uint32_t i = 1; i <= 3; ++i) {
    Gang& gang = *gangs.emplace_back(std::make_unique<Gang>());
    model::QuotaTerms terms;
    terms.ask.ns = "ns";
    terms.ask.local_queue = "q";
    gang.quota.emplace().terms = std::make_shared<const model::QuotaTerms>(std::move(terms));
    gang.quota->report.has = FourMembers();
    gang.quota->report.has->roles[0].requests.Set(model::kCpu, std::numeric_limits<int64_t>::max());
    counts.Count(model::GangId(i), gang);
  }
  const QuotaCounts::CellName cell{"f", "cpu"};
  CHECK(counts.Of({"", "leaf"}).reserved.at(cell) == absl::int128(3) * std::numeric_limits<int64_t>::max());
  for (uint32_t i = 1; i <= 3; ++i) counts.Forget(model::GangId(i));
  CHECK(counts.Of({"", "leaf"}).reserving == 0);
  CHECK(QuotaCounts::AmountOf(counts.Of({"", "leaf"}).reserved, cell) == 0);
}

}  // namespace
}  // namespace tutti::core
