// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/resources.h"

namespace tutti::sim {

std::string GroupResource::ToString() const { return group.empty() ? resource : resource + "." + group; }

const ApiVersion* ApiResource::FindVersion(std::string_view name) const {
  for (const ApiVersion& version : versions) {
    if (version.name == name) return &version;
  }
  return nullptr;
}

std::string ApiResource::StorageApiVersion() const { return JoinApiVersion(id.group, storage_version); }

ResourceTable::ResourceTable() {
  for (ApiResource& resource : BuiltinResources()) Put(std::move(resource));
}

const ApiResource* ResourceTable::Find(const GroupResource& id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

const ApiResource* ResourceTable::Find(std::string_view group, std::string_view plural) const {
  return Find(GroupResource{std::string(group), std::string(plural)});
}

const ApiResource* ResourceTable::FindKind(std::string_view api_version, std::string_view kind) const {
  const GroupVersion gv = SplitApiVersion(api_version);
  const auto it = by_kind_.find({gv.group, std::string(kind)});
  if (it == by_kind_.end()) return nullptr;
  const ApiResource* resource = Find(it->second);
  const ApiVersion* version = resource->FindVersion(gv.version);
  return version && version->served ? resource : nullptr;
}

void ResourceTable::Put(ApiResource resource) {
  by_kind_[{resource.id.group, resource.kind}] = resource.id;
  const GroupResource id = resource.id;
  by_id_[id] = &resources_.insert_or_assign(id, std::move(resource)).first->second;
  ++revision_;
}

void ResourceTable::Remove(const GroupResource& id) {
  const auto it = resources_.find(id);
  if (it == resources_.end()) return;
  by_kind_.erase({id.group, it->second.kind});
  by_id_.erase(it->first);
  resources_.erase(it);  // `id` may be of what goes
  ++revision_;
}

void ResourceTable::PreferGroup(std::string group) {
  preferred_group_ = std::move(group);
  ++revision_;
}

}  // namespace tutti::sim
