// SPDX-License-Identifier: Apache-2.0
// SeenItem: an object of a kind that may be wrapped, reduced to what an AppWrapper asks of it, and SeenItems: those
// that the feed shows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dialects/appwrapper_kinds.h"
#include "model/object.h"

namespace tutti::dialects {

// On what an AppWrapper has created: the digest of the object as it was to be created. An item that has another digest
// now was edited since.
inline constexpr std::string_view kFormAnnotation = "tutti.dev/wrapped-form";

struct SeenItem {
  std::string uid;
  std::string owner;                    // the UID of its controlling owner; empty: none
  std::string form;                     // see kFormAnnotation; empty: it was not created here
  bool leaving = false;                 // it is being deleted
  bool ended = false;                   // it makes no more pods
  bool failed = false;                  // its controller has given it up; never of what Ray's operator tries again
  std::vector<std::string> conditions;  // the types of those that are true, and what a RayJob says in their place
  // To delete it; null where its owner is no AppWrapper, for then it is not deleted.
  std::shared_ptr<const model::Object> object;

  friend bool operator==(const SeenItem& a, const SeenItem& b) {
    return a.uid == b.uid && a.owner == b.owner && a.form == b.form && a.leaving == b.leaving && a.ended == b.ended &&
           a.failed == b.failed && a.conditions == b.conditions;
  }
};

SeenItem ReadSeen(const std::shared_ptr<const model::Object>& object);

using ItemName = std::tuple<const WrappedKind*, std::string, std::string>;  // kind, namespace, name

class SeenItems {
 public:
  // Adds the item, or replaces it. Returns false if it was there as it is.
  bool Put(const ItemName& name, const SeenItem& item);
  // Removes the item. Returns the name of the AppWrapper that had created it: empty: none; nullopt: it was not there.
  std::optional<std::string> Drop(const ItemName& name);
  // Null: there is none.
  const SeenItem* Find(const ItemName& name) const;
  // The items whose controlling owner has the UID.
  const std::set<ItemName>& Of(const std::string& owner) const;

 private:
  void Forget(const ItemName& name, const SeenItem& item);

  std::map<ItemName, SeenItem> items_;
  std::map<std::string, std::set<ItemName>> by_owner_;  // none is empty
};

// The name of the AppWrapper that created it; empty: none did.
std::string CreatorOf(const SeenItem& item);

// Tells whether one of its conditions is named in the comma list, in any case.
bool HasConditionOf(const SeenItem& item, std::string_view list);

}  // namespace tutti::dialects
