// SPDX-License-Identifier: Apache-2.0
// Ledger: counts by cell what is charged to each queue and to all below it, and knows how much each may hold. One
// thread.
//
// A charge is added to all queues on the path at once, less what queues on the way keep to themselves; its cost is the
// path's length times the charge's cells. Speculations nest: Here() begins one, Rewind() undoes it, and Keep() makes it
// part of the one around it. Invariants
//   (1) a queue's sum is exact, however large the charges are; readers see it cut to the range of int64;
//   (2) Rewind(m) restores exactly the charges and ids at Here() == m;
//   (3) a change of the tree moves sums together with the moved queues; charges stay with their queue.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "queue/cells.h"
#include "queue/ids.h"
#include "queue/tree.h"

namespace tutti::queue {

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

class Ledger {
 public:
  // The number of open speculations around a mark.
  enum class Mark : size_t {};

  // `tree` must outlive this.
  explicit Ledger(QueueTree& tree) : tree_(tree) {}
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Charges `amounts` to the queue and all above it. The queue keeps its id until the charge is released.
  ChargeId Charge(QueueId queue, Ask amounts);
  // Removes a charge. CHECKs that it exists.
  void Release(ChargeId charge);
  // REQUIRES: the charge is there.
  QueueId queue(ChargeId charge) const { return charges_[charge.index()].queue; }
  const Ask& amounts(ChargeId charge) const { return charges_[charge.index()].amounts; }

  // Returns the charges of the queue and all below it, without what those keep.
  int64_t Used(QueueId queue, CellId cell) const;

  // Sets the most that a queue and all below it may hold of a cell; kNoLimit removes the limit.
  void SetLimit(QueueId queue, CellId cell, int64_t limit);
  void ClearLimits();
  int64_t Limit(QueueId queue, CellId cell) const;
  // The cells that the queue or one above it has a limit of, sorted.
  std::vector<CellId> Limited(QueueId queue) const;
  // Sets how much of a queue's sum counts in itself alone: queues above it are charged for what goes beyond.
  void SetKept(QueueId queue, CellId cell, int64_t amount);
  int64_t Kept(QueueId queue, CellId cell) const;

  // The limit less what is used, below zero where more is used than allowed; kNoLimit without a limit.
  int64_t Headroom(QueueId queue, CellId cell) const;
  // Returns the least headroom of the queue and all above it.
  int64_t Available(QueueId queue, CellId cell) const;

  // Begins a speculation inside the open ones.
  Mark Here();
  // Ends the innermost speculation and undoes it. CHECKs that `mark` began it.
  void Rewind(Mark mark);
  // Ends the innermost speculation and keeps its changes. CHECKs that `mark` began it.
  void Keep(Mark mark);

  // CHECKs all sums against a count from the charges, and that no speculation is open.
  void Audit() const;
  size_t charges() const { return charges_.size() - free_.size(); }

 private:
  __extension__ using Wide = __int128;  // holds the sum of 2^32 charges of the largest amount
  struct Entry {
    Wide used = 0;
    int64_t limit = kNoLimit;
    int64_t kept = 0;
    bool empty() const { return used == 0 && limit == kNoLimit && kept == 0; }
    Wide passed_up() const { return used > kept ? used - kept : Wide{0}; }
  };
  using Row = std::vector<Entry>;
  struct ChargeRecord {
    QueueId queue;  // held; invalid while the slot is free
    Ask amounts;
  };
  struct Change {
    ChargeId charge;
    ChargeRecord released;  // invalid queue: the change is a new charge
  };

  static int64_t Seen(Wide amount);
  const Entry* Find(QueueId queue, CellId cell) const;
  static Entry& At(std::vector<Row>* rows, QueueId queue, CellId cell);
  void Add(const ChargeRecord& charge, int sign, std::vector<Row>* rows) const;
  // Sums up again if some queue has another parent.
  void Refresh() const;
  void End(Mark mark);

  QueueTree& tree_;
  std::vector<ChargeRecord> charges_;
  std::vector<ChargeId> free_;
  std::vector<Change> changes_;  // since the outermost open mark
  std::vector<size_t> marks_;    // index in `changes_` at which each open one began
  mutable std::vector<Row> rows_;
  mutable uint64_t links_version_ = 0;  // of the tree, when they were summed up
};

}  // namespace tutti::queue
