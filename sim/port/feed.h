// SPDX-License-Identifier: Apache-2.0
// sim/port/feed.h - cluster::ClusterFeed straight from a Store, without HTTP.
//
// What the store commits is kept until the driver pumps, so that a simulation decides how far the scheduler's view lags
// behind. One thread: the store's owner.
//
// Invariants, beyond those of ClusterFeed
//   (1) nothing is posted outside Pump();
//   (2) the same store history and the same pumps post the same events.
//
// Leadership is not the feed's to tell: the driver posts it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/ports.h"
#include "sim/store/decoded.h"
#include "sim/store/store.h"

namespace tutti::sim {

// The first of the kind's versions that the store serves; empty: none.
std::string ServedVersion(const Store& store, const model::ObjectKind& kind);

class Feed final : public cluster::ClusterFeed {
 public:
  // All must outlive it.
  Feed(Store& store, cluster::EventSink& sink, Decoded* decoded = nullptr);
  ~Feed() override;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Each kind's versions in order of preference; the first one served is taken.
  void Start(std::vector<model::ObjectKind> kinds) override;
  // The next Pump lists them.
  void Want(std::vector<model::ObjectKind> kinds) override;

  // Posts all that happened since the last call. Returns how many events.
  size_t Pump();
  bool HasNews() const;

  // Faults. `kind_name` as in KindSynced. A broken watch loses what happens from now on; mending it lists again, and
  // only the differences are posted.
  void BreakWatch(std::string_view kind_name);
  void MendWatch(std::string_view kind_name);

 private:
  struct Watched {
    std::string name;
    GroupResource resource;
    model::ObjectKind kind;  // unused for pods and nodes
    bool must_list = true;
    bool connected = true;
    bool announced = false;  // a KindSynced was posted
    bool served = false;     // and said so
    std::string version;     // the one taken
    int64_t listed_at = 0;   // the list holds every event up to here
    absl::flat_hash_map<Store::Key, Object> posted;
  };

  // Tells whether the object is one of those that were asked for.
  static bool Selects(const Watched& watched, const Json& object);
  Watched* Find(std::string_view kind_name);
  std::string VersionOf(const Watched& watched) const;
  void Relist(Watched& watched);
  // By their keys; they are taken out of what was posted.
  void PostAllGone(Watched& watched, std::vector<Store::Key> keys);
  void Withdraw(Watched& watched);
  void Apply(const WatchEvent& event);
  void OnDefinition(const WatchEvent& event);
  void PostChanged(Watched& watched, const Object& object);
  void PostGone(Watched& watched, const Object& object);
  void Post(cluster::FeedEvent event);

  // Constant after construction.
  Store& store_;
  cluster::EventSink& sink_;
  int64_t subscription_;
  Decoded own_;
  Decoded& decoded_;

  std::vector<Watched> watched_;  // pods, nodes, then as asked
  std::deque<WatchEvent> pending_;
  bool started_ = false;
  size_t posted_ = 0;  // in this Pump
};

}  // namespace tutti::sim
