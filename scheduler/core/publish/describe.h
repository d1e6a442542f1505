// SPDX-License-Identifier: Apache-2.0
// Describe: the Decision of a gang, as it is shown to people and programs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/admit/quota_desk.h"
#include "core/gangs/gang_book.h"
#include "model/gang_draft.h"
#include "observe/decision.h"
#include "observe/journal.h"

namespace tutti::core {

class Describer {
 public:
  Describer(const cluster::ClusterState& state, const GangBook& book, const QuotaDesk& quota,
            const observe::Journal& journal)
      : state_(state), book_(book), quota_(quota), journal_(journal) {}

  observe::Decision Describe(const Gang& gang) const;
  // Adds the records from `place` on, half a millisecond's worth: first the gangs, then the settled pods. Returns true
  // if those were the last.
  bool Add(observe::DecisionsPlace* place, std::deque<observe::Decision>* records) const;
  // Returns the changes after `sequence`: see Journal::After.
  std::optional<observe::DecisionChanges> After(uint64_t sequence, size_t most) const;
  // Returns all gangs, as another scheduler may be asked about them.
  std::vector<model::GangDraft> Drafts() const;
  // Returns how many records were made so far. For tests.
  uint64_t made() const { return made_; }

 private:
  // Returns what the pod's gang would say last, if it were kept. REQUIRES: the pod is settled.
  observe::Decision DescribeSettled(model::PodId id) const;
  std::shared_ptr<const observe::QuotaDecision> DescribeQuota(const Gang& gang) const;
  // Returns the dialect of a queue that gives quota before there are pods; empty: there is none of the name.
  std::string DialectOf(const std::string& leaf) const;
  // Returns how many members of the role have places in each domain.
  std::map<std::string, int64_t> DomainsOf(const Gang& gang, const model::HeldQuota::Role& role) const;

  const cluster::ClusterState& state_;
  const GangBook& book_;
  const QuotaDesk& quota_;
  const observe::Journal& journal_;
  mutable uint64_t made_ = 0;
};

}  // namespace tutti::core
