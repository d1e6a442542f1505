// SPDX-License-Identifier: Apache-2.0
// ShareTree: how much of each cell a queue has of its own, lends, borrows, and may still take. One thread.
//
// A queue's quota below it is its own and what its children lend it. What a child does not lend it keeps: use within
// that counts in the child alone. Every answer costs the depth of the tree; a changed declaration costs all queues.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/sharing_queue.h"
#include "queue/ledger.h"
#include "queue/policies/kueue/dominant_share.h"
#include "queue/tree.h"

namespace tutti::queue {

// Amounts by cell: sorted by cell, each once.
using CellAmounts = std::vector<CellAmount>;

class ShareTree {
 public:
  // `used` is what gangs have; what queues keep is written there. Both must outlive this.
  ShareTree(QueueTree& tree, Ledger& used) : tree_(tree), used_(used) {}
  ~ShareTree();
  ShareTree(const ShareTree&) = delete;
  ShareTree& operator=(const ShareTree&) = delete;

  // A cohort that is only named, by a child, has no quota of its own and no parent.
  void Put(model::CohortSpec spec);
  void Put(model::LeafQueueSpec spec);
  void DropCohort(const std::string& name);
  void DropLeaf(const std::string& name);

  // Invalid when no such leaf is declared.
  QueueId Leaf(const std::string& name) const;
  // Invalid when no such cohort is declared or named.
  QueueId Cohort(const std::string& name) const;
  // The id of that name, declared or not, which the caller holds until ReleaseLeaf.
  QueueId HoldLeaf(const std::string& name);
  void ReleaseLeaf(QueueId queue) { tree_.Release(queue); }
  // REQUIRES: `queue` came from Leaf and has not been dropped since.
  const model::LeafQueueSpec& leaf(QueueId queue) const { return *nodes_[queue.index()].leaf; }
  bool is_leaf(QueueId queue) const { return queue.index() < nodes_.size() && nodes_[queue.index()].leaf.has_value(); }
  // As users wrote it; a leaf and a cohort may have one name.
  std::string name(QueueId queue) const;
  // "/root/cohort/leaf".
  std::string Path(QueueId queue) const;
  QueueId parent(QueueId queue) const { return tree_.parent(queue); }
  QueueId Root(QueueId queue) const;
  // Tells whether the parents of a queue on the path lead back to it: then nothing below it can be admitted.
  bool HasCircle(QueueId queue) const;
  // Leaves and cohorts, by name.
  const std::vector<QueueId>& Children(QueueId queue) const;
  // All leaves below a cohort, or the leaf itself.
  std::vector<QueueId> LeavesBelow(QueueId queue) const;
  Cells& cells() const { return tree_.cells(); }

  int64_t Used(QueueId queue, CellId cell) const;
  // The limits that the queue itself declares.
  model::CellQuota Quota(QueueId queue, CellId cell) const;
  // Its own quota and what its children lend.
  int64_t Subtree(QueueId queue, CellId cell) const;
  // What may still be taken now; below zero where more is used than there is.
  int64_t Available(QueueId queue, CellId cell) const;
  // What could be taken if nothing were used.
  int64_t Potential(QueueId queue, CellId cell) const;
  // Of what it keeps to itself, what is not in use.
  int64_t KeptFree(QueueId queue, CellId cell) const;
  bool Exceeds(QueueId queue, CellId cell, int64_t more = 0) const;
  // Tells whether the queue has at most its quota of every one of these cells.
  bool IsWithin(QueueId queue, std::span<const CellId> cells) const;
  // Tells whether the leaf may take `wants` now; without `borrowing`, only within its own quota.
  bool Fits(QueueId leaf, const CellAmounts& wants, bool borrowing = true) const;

  // The height of the lowest subtree around the leaf whose own quota holds `amount` besides what is used, 0 being the
  // leaf itself; of the whole tree where none does.
  struct LowestFit {
    int height = 0;
    bool below_root = false;  // the subtree is not the whole tree
  };
  LowestFit FindLowestFit(QueueId leaf, CellId cell, int64_t amount) const;

  DominantShare Dominant(QueueId queue) const;

 private:
  struct Entry {
    model::CellQuota quota;
    int64_t subtree = 0, potential = 0;
    bool known = false;  // it, or a queue below it, declares the cell
  };
  struct Node {
    std::optional<model::LeafQueueSpec> leaf;
    std::vector<model::ResourceGroup> groups;
    double weight = 1;
    std::vector<CellId> held;
    // What follows from the declarations:
    std::vector<Entry> cells;
    std::vector<int64_t> lendable;  // by resource: all flavors together
    std::vector<QueueId> children;
    int height = 0;
  };
  Node& Fresh(QueueId queue);
  void Hold(QueueId queue, const std::vector<model::ResourceGroup>& groups);
  void Clear(QueueId queue);
  const Entry& At(QueueId queue, CellId cell) const;
  int64_t KeptOf(const Entry& entry) const;

  void Renew() const;
  void RenewLinks() const;
  void RenewSubtrees() const;
  void RenewPotentials() const;

  QueueTree& tree_;
  Ledger& used_;
  mutable std::vector<Node> nodes_;            // by QueueId
  mutable std::vector<QueueId> top_down_;      // parents before children
  mutable std::vector<uint32_t> resource_of_;  // by CellId, in the order of names
  mutable bool stale_ = true;
};

}  // namespace tutti::queue
