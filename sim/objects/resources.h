// SPDX-License-Identifier: Apache-2.0
// sim/objects/resources.h - which resources the API serves: the built-in ones, and those
// that CustomResourceDefinitions add and take away while it runs.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/objects/object.h"
#include "sim/objects/object_schema.h"

namespace tutti::sim {

// A resource under any of its versions: what an object is stored by.
struct GroupResource {
  std::string group;
  std::string resource;  // plural, "pods"
  auto operator<=>(const GroupResource&) const = default;
  template <class H>
  friend H AbslHashValue(H hash, const GroupResource& id) {
    return H::combine(std::move(hash), id.group, id.resource);
  }
  // "pods", "rayclusters.ray.io"
  std::string ToString() const;
};

inline const GroupResource kPods{"", "pods"};
inline const GroupResource kNodes{"", "nodes"};
inline const GroupResource kNamespaces{"", "namespaces"};
inline const GroupResource kEvents{"", "events"};
inline const GroupResource kServices{"", "services"};
inline const GroupResource kJobs{"batch", "jobs"};
inline const GroupResource kReplicaSets{"apps", "replicasets"};
inline const GroupResource kClaims{"", "persistentvolumeclaims"};
inline const GroupResource kVolumes{"", "persistentvolumes"};
inline const GroupResource kStorageClasses{"storage.k8s.io", "storageclasses"};
inline const GroupResource kLeases{"coordination.k8s.io", "leases"};
inline const GroupResource kLimitRanges{"", "limitranges"};
inline const GroupResource kResourceQuotas{"", "resourcequotas"};
inline const GroupResource kPriorityClasses{"scheduling.k8s.io", "priorityclasses"};
inline const GroupResource kCustomResourceDefinitions{"apiextensions.k8s.io", "customresourcedefinitions"};
inline const GroupResource kRayClusters{"ray.io", "rayclusters"};
inline const GroupResource kRayJobs{"ray.io", "rayjobs"};

// A column of `kubectl get`, as in a CRD's additionalPrinterColumns.
struct PrinterColumn {
  std::string name;
  std::string type;       // string, integer, number, boolean, date
  std::string json_path;  // ".status.state"
  std::string description;
  std::string format;
  int priority = 0;  // above 0: only with -o wide
};

// Where the scale subresource finds its numbers, as dotted paths.
struct ScalePaths {
  std::string spec_replicas;
  std::string status_replicas;
  std::string label_selector;  // may be empty
};

struct ApiVersion {
  std::string name;
  bool served = true;
  bool has_status = false;  // status is written through its own subresource only
  std::shared_ptr<const ScalePaths> scale;
  std::shared_ptr<const ObjectSchema> schema;  // of a custom resource, or nothing
  std::vector<PrinterColumn> columns;          // custom resources only
};

struct ApiResource {
  GroupResource id;
  GroupResource stored_as;  // differs from id for events.k8s.io, whose objects are core Events
  std::string kind;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool custom = false;               // of a CustomResourceDefinition
  int64_t defined_at = 0;            // the resourceVersion of its definition's last change
  bool tracks_generation = false;    // metadata.generation counts changes of the spec
  std::vector<ApiVersion> versions;  // most preferred first
  std::string storage_version;

  const ApiVersion* FindVersion(std::string_view name) const;
  std::string StorageApiVersion() const;
  std::string list_kind() const { return kind + "List"; }
};

// REQUIRES: one owner. Pointers handed out stay good until that resource is removed
// or put again; to keep work across store calls, keep the GroupResource instead.
class ResourceTable {
 public:
  ResourceTable();  // with the built-in resources
  ResourceTable(const ResourceTable&) = delete;
  ResourceTable& operator=(const ResourceTable&) = delete;

  const ApiResource* Find(const GroupResource& id) const;
  const ApiResource* Find(std::string_view group, std::string_view plural) const;
  // By the two fields every object carries; only served versions are found.
  const ApiResource* FindKind(std::string_view api_version, std::string_view kind) const;

  // Ordered by (group, plural).
  const std::map<GroupResource, ApiResource>& All() const { return resources_; }

  void Put(ApiResource resource);
  void Remove(const GroupResource& id);

  // Of several kinds of one name, as PodGroup, clients take that of the group that is listed first; this one is. Empty:
  // they are listed by name.
  void PreferGroup(std::string group);
  const std::string& preferred_group() const { return preferred_group_; }

  // Grows with every change: says when cached discovery is stale.
  int64_t revision() const { return revision_; }

 private:
  std::map<GroupResource, ApiResource> resources_;
  absl::flat_hash_map<GroupResource, const ApiResource*> by_id_;          // into resources_
  std::map<std::pair<std::string, std::string>, GroupResource> by_kind_;  // (group, kind)
  std::string preferred_group_;
  int64_t revision_ = 0;
};

// The built-in resources (sim/objects/builtin_resources.cc).
std::vector<ApiResource> BuiltinResources();

}  // namespace tutti::sim
