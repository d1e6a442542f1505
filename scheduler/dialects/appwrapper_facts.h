// SPDX-License-Identifier: Apache-2.0
// WrapperFacts: all that the next status of an AppWrapper is made of, and WrapperWish: that status, and what is to
// become of its items.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "dialects/appwrapper_seen.h"
#include "dialects/appwrapper_spec.h"
#include "dialects/fields.h"
#include "dialects/report.h"

namespace tutti::dialects {

struct ItemStanding {
  std::optional<SeenItem> seen;  // what has its name; nullopt: nothing, as far as is known
  bool ours = false;             // that is this AppWrapper's
  bool leaving = false;          // and is being deleted, or about to be
  bool shown = false;            // the feed shows it, or never will
  bool recorded = false;         // only the status tells of it: it may be of an older form by now, or gone
  bool perhaps = false;          // the status lists it without UID: this AppWrapper may have one, and none is known
  bool old = false;              // it is as an earlier form of the spec had it
};

// What was created of an item that the spec has no more, or that cannot be read any more: the spec was edited since.
// While not all is created, it goes first.
struct FormerItem {
  WrappedItem item;  // its kind, version and name
  ItemStanding standing;
};

struct WrapperFacts {
  std::shared_ptr<const model::Object> wrapper;
  const WrapperSpec& spec;
  const GangReport& report;
  base::Json status;                // as it is, or was written
  std::vector<ItemStanding> items;  // none, if the spec has a problem
  std::vector<FormerItem> formers;
  std::string failure;    // "RayCluster ns/name exists already, ...": why an item cannot be created; empty: all can
  bool hopeless = false;  // the same creation would fail again
  // Of one that waits in a queue: whether that has let it go. It gives and takes the places; nullopt: it waits in none.
  std::optional<bool> let_go;

  // Its members have places, or pods, and none of an earlier try are left.
  bool admitted() const;
  // Some of it was created, or may have been: its pods are not those of an earlier AppWrapper of its name.
  bool has_begun() const;
  // Why nothing of it can be created, or why it cannot wait in its queue; empty: nothing is wrong.
  const std::string& problem() const;
  // Why it has no places; empty: it has, or was not considered yet.
  std::string why() const;
  bool begun_unplaced() const;   // it is admitted without places, and some of its items exist
  bool runs() const;             // all of it is there, and some of its pods are on nodes, whatever the status says yet
  bool lost_all() const;         // it has no places any more, and none of its pods is on a node
  bool is_of_bare_pods() const;  // all pods that it has are bare: nothing makes them again
  bool lost_bare_pods() const;   // it is of bare pods, and has none
  bool lacks_pods() const;       // it is of bare pods, and not all are there
  bool edited() const;           // something is there as an earlier form of the spec had it
  bool all_there() const;        // all items exist as they are to be, nothing else does, and none is leaving
  bool some_gone() const;        // an item that is watched is not there
  bool none_left() const;        // neither items, present or former, nor pods
  bool lists_none_left() const;  // the status lists items, and none is left
  // "Job ns/j was created, and the spec does not have it any more"; empty: it has all that was created.
  std::string edit() const;
  int64_t failed() const;  // items that their controllers have given up
  int64_t active() const { return report.total - report.succeeded - report.failed; }  // pods that have not ended
};

WrapperFacts LookAt(std::shared_ptr<const model::Object> wrapper, const WrapperSpec& spec, const GangReport& report,
                    const cluster::Unseen& unseen, const SeenItems& seen);

// What was created is there for so long at least before it is taken away for want of places: pods that an admission
// plugin makes larger than they were promised would be made and removed without end.
inline constexpr base::Millis kLeastThereMs = 10'000;

struct WrapperWish {
  enum class Items : uint8_t { kLeave, kCreate, kRemove } items = Items::kLeave;
  base::Json status = nullptr;  // null: it is right as it is
  bool tells = false;           // the status: nothing waits for it (cluster/desired.h)
  base::Millis again_ms = 0;    // wall; when time alone changes it; 0: never

  void At(base::Millis wall_ms) { again_ms = again_ms == 0 ? wall_ms : std::min(again_ms, wall_ms); }
};

// Adds what the wish asks of the AppWrapper's status and of its items: to create, one after the other in their order,
// once what an earlier form of the spec had is gone; to remove, once the status says so, for the next leader goes by
// that.
void Desire(const WrapperFacts& facts, WrapperWish wish, std::vector<cluster::DesiredObject>* out);

// The items as the status lists them: so that what no feed shows can be deleted later. With their UIDs; while they are
// being created, with those that it has already: each more would be one more write.
enum class Uids : uint8_t { kAll, kListed };
base::Json ComponentStatus(const WrapperFacts& facts, Uids uids);
// Tells whether the status of one that is being created lists its items: only if there are such that no feed shows, or
// if it lists some already. What no feed shows is not created before its name is listed.
bool IsRecorded(const WrapperFacts& facts);
// Tells whether the status lists items at all.
bool ListsItems(const base::Json& status);
// Tells whether the status lists an item with its UID. Of those that another controller has created it does not, and
// these have pods of which nothing is known here.
bool WasCreatedHere(const base::Json& status);

}  // namespace tutti::dialects
