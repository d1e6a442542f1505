// SPDX-License-Identifier: Apache-2.0
// KubeFeed: posts pods, nodes and the wanted kinds from the API server to a sink, as they change.
//
// For a kind that is not served it posts KindSynced{served=false}, and looks for the kind again. When a CRD is deleted,
// it posts its objects as gone. When a version appears that is preferred to the watched one, it lists the kind again in
// that version. When the first list of a kind fails for long, or one that Refresh asked for, it posts KindUnreadable,
// and KindSynced{served=true} once a list is complete.
//
// Start is called once, and Want at any time after it, on any thread; they take effect on the loop's thread. The rest
// is the loop's thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/ports.h"
#include "kube/discovery.h"
#include "kube/kind_store.h"
#include "kube/loop.h"
#include "kube/reflector.h"
#include "kube/transport.h"

namespace tutti::kube {

class KubeFeed final : public cluster::ClusterFeed {
 public:
  KubeFeed(Loop& loop, Transport& transport, base::Random& random, cluster::EventSink& sink);
  ~KubeFeed() override;

  void Start(std::vector<model::ObjectKind> kinds) override;
  void Want(std::vector<model::ObjectKind> kinds) override;

  // Runs `done` when pods, and all kinds in which leaders record what they decided, are known as of now or later. Lists
  // that were complete already are repeated. It does not wait for a record that cannot be read: KindUnreadable says so.
  void Refresh(Task done);
  bool pods_synced() const;

  const Discovery& discovery() const { return discovery_; }
  // Returns the version in which `resource` of `group` is watched; empty when it is not.
  std::string WatchedVersion(const std::string& group, const std::string& resource) const;
  // Tells whether discovery says that the kind has a status subresource. For a watched kind that discovery leaves out
  // now, its last word counts.
  bool HasStatus(const std::string& group, const std::string& version, const std::string& resource) const;

 private:
  struct WatchedKind {
    model::ObjectKind kind;
    std::unique_ptr<KindStore> store;
    std::unique_ptr<Reflector> reflector;  // null while not served
    std::string version;
    bool has_status = false;  // in that version
    bool built_in = false;    // always served, in v1
    bool synced = false;      // KindSynced{served=true} has been posted
    bool said_unserved = false;
    bool said_unreadable = false;
    bool awaited = false;   // by Refresh: its list has not been complete since
    bool left_out = false;  // the last discovery left it out
  };

  void StartOnLoop(const std::vector<model::ObjectKind>& kinds);
  void Add(const model::ObjectKind& kind);
  const WatchedKind* Find(const std::string& group, const std::string& resource) const;
  Reflector::Callbacks CallbacksOf(WatchedKind& kind);
  WatchedKind& WatchBuiltIn(const char* resource, std::unique_ptr<KindStore> store);
  void WatchDefinitions();
  void OnDiscovery();
  void Watch(WatchedKind& kind, const std::string& version);
  void OnNotFound(WatchedKind& kind);
  void Unwatch(WatchedKind& kind);
  void PostSynced(WatchedKind& kind);
  void OnFailing(WatchedKind& kind, const std::string& why);
  void Arrived(WatchedKind& kind);
  // Logs one line when all kinds were listed for the first time, then one for each later list.
  void LogListed(const WatchedKind& kind);

  Loop& loop_;
  Transport& transport_;
  base::Random& random_;
  cluster::EventSink& sink_;
  std::vector<Task> refreshed_;  // to run when no kind is awaited
  SpecCache specs_;
  Discovery discovery_;
  std::vector<std::unique_ptr<WatchedKind>> kinds_;
  WatchedKind* pods_ = nullptr;
  base::Millis started_ms_ = 0;  // monotonic
  bool all_listed_ = false;      // all kinds were listed or are not served, and that was logged
  std::unique_ptr<KindStore> definitions_;
  std::unique_ptr<Reflector> definitions_reflector_;
};

}  // namespace tutti::kube
