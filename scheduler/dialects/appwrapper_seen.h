// SPDX-License-Identifier: Apache-2.0
// SeenItem: an object that has the name of a wrapped one, reduced to what an AppWrapper asks of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/object.h"

namespace tutti::dialects {

struct SeenItem {
  std::string uid;
  std::string owner;                    // the UID of its controlling owner; empty: none
  bool leaving = false;                 // it is being deleted
  bool ended = false;                   // it makes no more pods
  bool failed = false;                  // its controller has given it up; never of what Ray's operator tries again
  std::vector<std::string> conditions;  // the types of those that are true, and what a RayJob says in their place
  // To delete it; null where its owner is no AppWrapper, for then it is not deleted.
  std::shared_ptr<const model::Object> object;

  friend bool operator==(const SeenItem& a, const SeenItem& b) {
    return a.uid == b.uid && a.owner == b.owner && a.leaving == b.leaving && a.ended == b.ended &&
           a.failed == b.failed && a.conditions == b.conditions;
  }
};

SeenItem ReadSeen(const std::shared_ptr<const model::Object>& object);

// Tells whether one of its conditions is named in the comma list, in any case.
bool HasConditionOf(const SeenItem& item, std::string_view list);

}  // namespace tutti::dialects
