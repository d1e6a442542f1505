// SPDX-License-Identifier: Apache-2.0
// Displaced: which gangs of a tree left for which others since anything else changed there. One thread.
//
// The rules let gangs take turns without end: one takes back what another borrowed, that one comes before a third, and
// the third before the first. So a gang never evicts the one for which it left, nor any for which that one left in
// turn. Then the first of such a ring stays.
//
// A tree is known by its root. It is forgotten when anything else changes there: a declaration, a priority, a gang that
// ends, or one that is given quota for the first time since then.
#pragma once

#include <map>
#include <set>
#include <string>

#include "queue/policies/kueue/holdings.h"

namespace tutti::queue {

class Displaced {
 public:
  // Says that the gang `victim` leaves for the one of the uid.
  void Note(QueueId root, const Holding& victim, const std::string& by);
  // Says that the gang, which waits, was refused and spared others.
  void NoteSparing(QueueId root, model::GangId gang) { trees_[root].sparing.insert(gang); }
  // Says that the gang of the uid is given quota. Returns those that spared others, which they spare no more.
  std::set<model::GangId> NoteAdmitted(QueueId root, const std::string& uid);

  // Returns the uids of those for which the gang had to leave, one after another. None: it asks in another queue now,
  // or with another priority.
  std::set<std::string> Before(QueueId root, const std::string& uid, QueueId leaf, int32_t priority) const;

  // Says that something else has changed in the tree. Returns those that spared others.
  std::set<model::GangId> Clear(QueueId root);
  void Clear() { trees_.clear(); }

 private:
  struct Left {
    QueueId leaf;
    int32_t priority = 0;
    std::set<std::string> by;  // uids
  };
  struct Tree {
    std::map<std::string, Left> left;  // by uid
    std::set<std::string> known;       // uids of those that left, that others left for, or that were given quota
    std::set<model::GangId> sparing;
  };
  const Left* Find(QueueId root, const std::string& uid) const;

  std::map<QueueId, Tree> trees_;  // by root
};

}  // namespace tutti::queue
