// SPDX-License-Identifier: Apache-2.0
// sim/store/store.h - the embedded cluster's objects: what an API server does between
// its HTTP door and etcd, in memory.
//
// It defaults, validates, versions and garbage-collects as Kubernetes does, and
// refuses in Kubernetes' own words. It knows no HTTP, no thread and no wall clock:
// the same calls in the same order with the same seed give the same objects, uids
// and resourceVersions.
//
// Thread safety: one owner. Behind HTTP the owner is the thread that holds sim/store/door.h.
//
// Invariants
//   (1) resourceVersions grow by one per write that changes something; a write that
//       changes nothing returns the object as it is and makes no event;
//   (2) every observer sees every event, in the order of resourceVersions;
//   (3) an Object never changes once handed out.
//
// What is left to others: nodes' readiness and taints, running and finishing pods
// (a bound pod that is deleted stays with a deletionTimestamp until the kubelet
// deletes it with grace 0), pods of vanished nodes, and all workload controllers.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"
#include "sim/objects/selectors.h"
#include "sim/store/pod_templates.h"
#include "sim/store/resource_quotas.h"

namespace tutti::sim {

class GarbageCollector;

enum class EventType { kAdded, kModified, kDeleted };

struct WatchEvent {
  EventType type;
  GroupResource resource;  // as stored
  Object object;           // kDeleted: its last state, with the deletion's resourceVersion
  Object previous;         // null for kAdded
  int64_t resource_version;
};

struct CreateOptions {
  // Take uid, creationTimestamp, deletionTimestamp, generation and status from the
  // object: for dumps of a cluster, whose owner references must keep their meaning.
  bool restore = false;
  bool dry_run = false;
};

// Which part of an object a write may change. kResize: what a pod and its containers ask for (pods/resize).
enum class Part { kMain, kStatus, kResize };

enum class PatchType { kJson, kMerge, kStrategic, kApply };

enum class Propagation { kBackground, kForeground, kOrphan };

struct WriteOptions {
  bool dry_run = false;
};

struct DeleteOptions {
  std::optional<int64_t> grace_seconds = {};  // pods only; theirs when absent
  Propagation propagation = Propagation::kBackground;
  std::string uid = {};               // precondition; "" for none
  std::string resource_version = {};  // precondition; "" for none
  bool dry_run = false;
};

struct DeleteResult {
  Object object;
  bool removed;  // false: it lingers with a deletionTimestamp
};

struct ListOptions {
  Selectors selectors = {};
  size_t limit = 0;                 // 0: all
  std::string continue_token = {};  // of the page before
};

struct ListResult {
  std::vector<Object> items;     // by namespace, then name
  int64_t resource_version = 0;  // watch from here
  std::string continue_token;    // "" on the last page
  int64_t remaining = 0;         // items after this page; known only without selectors
};

class Store {
 public:
  // `clock` must outlive the store. `event_log` events are kept for watches that resume.
  explicit Store(const base::Clock& clock, uint64_t seed = 1, size_t event_log = 50'000);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // --- Reading ---

  // Null when there is none: the short form for controllers.
  Object Find(const GroupResource& resource, std::string_view ns, std::string_view name) const;
  ApiResult<Object> Get(const GroupResource& resource, std::string_view ns, std::string_view name) const;
  // `ns` "": all namespaces.
  // With a limit, the rest is kept, so that all pages show one state.
  ApiResult<ListResult> List(const GroupResource& resource, std::string_view ns, const ListOptions& options = {});
  // All of them, without ceremony; empty when the resource is not served.
  std::vector<Object> All(const GroupResource& resource, std::string_view ns = "") const;
  size_t Count(const GroupResource& resource) const;
  using Key = std::pair<std::string, std::string>;  // namespace, name
  // The same without a copy, in the order of their keys. `visit` must not write.
  template <class Visit>  // void(const Key&, const Object&)
  void ForEach(const GroupResource& resource, Visit&& visit) const {
    if (const Table* table = TableOf(resource))
      for (const auto& [key, object] : table->in_order()) visit(key, object);
  }

  const ResourceTable& resources() const { return resources_; }
  // What is known of the pod specs that were created before: to be asked and told while manifests are read.
  PodTemplates& templates() { return templates_; }
  const ResourceQuotas& quotas() const { return quotas_; }
  // Takes a built-in group version out, as kube-apiserver's --runtime-config=GROUP/VERSION=false does. REQUIRES: none
  // of its objects is there.
  void StopServing(std::string_view group, std::string_view version);
  void PreferGroup(std::string group) { resources_.PreferGroup(std::move(group)); }  // as ResourceTable's
  int64_t resource_version() const { return resource_version_; }
  base::Millis now_ms() const { return clock_.WallMs(); }
  const base::Clock& clock() const { return clock_; }

  // --- Writing ---
  // The resource is found by apiVersion and kind; an empty namespace of a namespaced
  // object means "default". Objects come back in their storage version.

  ApiResult<Object> Create(Json object, const CreateOptions& options = {});

  // Replaces all but the status (kMain), or the status alone (kStatus). With a
  // resourceVersion in it, refuses to overwrite a newer object.
  ApiResult<Object> Update(Json object, Part part = Part::kMain, const WriteOptions& options = {});

  ApiResult<Object> Patch(const GroupResource& resource, std::string_view ns, std::string_view name, PatchType type,
                          const Json& patch, Part part = Part::kMain, const WriteOptions& options = {});

  // Read, change, write back in one step, hence never a conflict: for controllers. What a controller changes of the
  // status of a built-in kind is taken as it is: it has only known fields, of the right types. REQUIRES: with kStatus,
  // nothing but the status changes.
  ApiResult<Object> Modify(const GroupResource& resource, std::string_view ns, std::string_view name,
                           const std::function<void(Json&)>& change, Part part = Part::kMain);

  ApiResult<DeleteResult> Delete(const GroupResource& resource, std::string_view ns, std::string_view name,
                                 const DeleteOptions& options = {});
  ApiResult<std::vector<Object>> DeleteCollection(const GroupResource& resource, std::string_view ns,
                                                  const Selectors& selectors, const DeleteOptions& options = {});

  // POST pods/NAME/binding. Merges the Binding's labels and annotations into the pod
  // in the same write; uid and resourceVersion in its metadata are preconditions. The
  // node need not exist, as in Kubernetes.
  ApiResult<Object> Bind(const Json& binding, const WriteOptions& options = {});

  // --- Watching ---

  using Observer = std::function<void(const WatchEvent&)>;
  // Calls `observer` for every later event, inside the write that makes it. An observer
  // may write: that takes effect at once, and its events follow when all observers
  // have seen the present one. Returns a handle for Unsubscribe.
  int64_t Subscribe(Observer observer);
  void Unsubscribe(int64_t handle);

  // Events of `resource` after `resource_version`, oldest first; 410 when the log no
  // longer reaches back that far.
  ApiResult<std::vector<WatchEvent>> EventsAfter(const GroupResource& resource, int64_t resource_version) const;

 private:
  friend class GarbageCollector;

  // The objects of one resource: by key for lists, and found by name without a walk through their order.
  class Table {
   public:
    using InOrder = std::map<Key, Object>;
    const InOrder& in_order() const { return in_order_; }
    Object Find(std::string_view ns, std::string_view name) const;
    void Put(Key key, Object object);
    void Erase(std::string_view ns, std::string_view name);

   private:
    InOrder in_order_;
    // Their keys' texts are those of in_order_.
    absl::flat_hash_map<std::pair<std::string_view, std::string_view>, InOrder::iterator> by_name_;
  };

  struct OpenList {
    std::vector<Object> items;
    int64_t resource_version;
    bool counts_remaining;
  };

  const Table* TableOf(const GroupResource& resource) const;
  std::vector<Object> Selected(const GroupResource& resource, std::string_view ns, const Selectors& selectors) const;
  ApiResult<ListResult> NextPage(const ListOptions& options);
  ApiResult<const ApiResource*> ResourceFor(const Json& object) const;
  ApiResult<const ApiResource*> ResourceFor(const GroupResource& id) const;
  ApiResult<void> CheckNamespaceOpen(const ApiResource& resource, const std::string& ns, const std::string& name) const;
  ApiResult<void> AssignName(const ApiResource& resource, Json& object);
  void AssignIdentity(const ApiResource& resource, Json& object, bool restore);
  std::string RandomUid();
  std::string RandomSuffix();

  // The write path that Update, Patch and Modify share: `next` is the object as the
  // caller wants it.
  ApiResult<Object> Replace(const ApiResource& resource, const Object& current, Json next, Part part, bool dry_run);
  Object CommitChange(const ApiResource& resource, const Object& current, Json next);
  ApiResult<Object> CreateByApply(const ApiResource& resource, std::string_view ns, std::string_view name, Json object,
                                  const WriteOptions& options);
  ApiResult<DeleteResult> DeleteObject(const ApiResource& resource, const Object& current,
                                       const DeleteOptions& options);
  Object Commit(const ApiResource& resource, EventType type, Json object, const Object& previous);
  Object Remove(const ApiResource& resource, const Object& current);
  void Dispatch();
  void OnDefinitionChanged(const WatchEvent& event);

  // Constant after construction.
  const base::Clock& clock_;
  const size_t event_log_;

  base::Random random_;
  ResourceTable resources_;
  PodTemplates templates_;
  ResourceQuotas quotas_{*this};
  absl::flat_hash_map<GroupResource, Table> tables_;
  int64_t resource_version_ = 1;
  int64_t oldest_dropped_ = 0;  // the last resourceVersion that fell out of the log
  std::deque<WatchEvent> log_;
  std::deque<WatchEvent> undelivered_;
  std::map<int64_t, OpenList> open_lists_;  // by age
  int64_t next_list_ = 1;
  bool dispatching_ = false;
  std::map<int64_t, Observer> observers_;
  int64_t next_handle_ = 1;
  std::unique_ptr<GarbageCollector> collector_;
};

}  // namespace tutti::sim
