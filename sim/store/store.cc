// SPDX-License-Identifier: Apache-2.0
// Reading, watching, and the one place where the state changes. The verbs are in store_write.cc.
#include "sim/store/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "sim/schema/crd.h"
#include "sim/store/gc.h"

namespace tutti::sim {
namespace {

constexpr size_t kMaxOpenLists = 64;

Json Named(const char* api_version, const char* kind, const char* name) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

Json SystemPriorityClass(const char* name, int64_t value, const char* description) {
  Json object = Named("scheduling.k8s.io/v1", "PriorityClass", name);
  object["value"] = value;
  object["description"] = description;
  return object;
}

}  // namespace

Store::Store(const base::Clock& clock, uint64_t seed, size_t event_log)
    : clock_(clock), event_log_(event_log), random_(seed) {
  collector_ = std::make_unique<GarbageCollector>(*this);
  Subscribe([this](const WatchEvent& event) { collector_->Observe(event); });
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    TUTTI_CHECK(Create(Named("v1", "Namespace", name)), name);
  }
  for (const Json& object :
       {SystemPriorityClass("system-cluster-critical", 2'000'000'000,
                            "Used for system critical pods that must run in the cluster, but can be moved to another "
                            "node if necessary."),
        SystemPriorityClass("system-node-critical", 2'000'001'000,
                            "Used for system critical pods that must not be moved from their current node.")}) {
    TUTTI_CHECK(Create(object), NameOf(object));
  }
}

Store::~Store() = default;

void Store::StopServing(std::string_view group, std::string_view version) {
  std::vector<GroupResource> withdrawn;
  for (const auto& [id, resource] : resources_.All()) {
    if (id.group == group && resource.versions.size() == 1 && resource.FindVersion(version)) withdrawn.push_back(id);
  }
  for (const GroupResource& id : withdrawn) resources_.Remove(id);
}

// --- Reading ---

ApiResult<const ApiResource*> Store::ResourceFor(const GroupResource& id) const {
  const ApiResource* resource = resources_.Find(id);
  if (!resource) return tl::make_unexpected(PathNotFound());
  return resource;
}

ApiResult<const ApiResource*> Store::ResourceFor(const Json& object) const {
  const std::string& api_version = DigString(object, "apiVersion");
  const std::string& kind = DigString(object, "kind");
  if (api_version.empty() || kind.empty()) {
    return tl::make_unexpected(BadRequest("Object 'Kind' is missing: apiVersion and kind must both be set"));
  }
  if (const ApiResource* resource = resources_.FindKind(api_version, kind)) return resource;
  ApiError error = PathNotFound();
  error.message = fmt::format("no matches for kind \"{}\" in version \"{}\"", kind, api_version);
  return tl::make_unexpected(std::move(error));
}

const Store::Table* Store::TableOf(const GroupResource& resource) const {
  const ApiResource* known = resources_.Find(resource);
  if (!known) return nullptr;
  const auto it = tables_.find(known->stored_as);
  return it == tables_.end() ? nullptr : &it->second;
}

Object Store::Table::Find(std::string_view ns, std::string_view name) const {
  const auto at = by_name_.find({ns, name});
  return at == by_name_.end() ? nullptr : at->second->second;
}

void Store::Table::Put(Key key, Object object) {
  if (const auto at = by_name_.find({key.first, key.second}); at != by_name_.end()) {
    at->second->second = std::move(object);
    return;
  }
  const auto at = in_order_.emplace(std::move(key), std::move(object)).first;
  by_name_.emplace(std::pair<std::string_view, std::string_view>(at->first.first, at->first.second), at);
}

void Store::Table::Erase(std::string_view ns, std::string_view name) {
  const auto at = by_name_.find({ns, name});
  if (at == by_name_.end()) return;
  const InOrder::iterator entry = at->second;
  by_name_.erase(at);  // before the texts of its key go
  in_order_.erase(entry);
}

Object Store::Find(const GroupResource& resource, std::string_view ns, std::string_view name) const {
  const Table* table = TableOf(resource);
  if (!table) return nullptr;
  return table->Find(ns, name);
}

ApiResult<Object> Store::Get(const GroupResource& resource, std::string_view ns, std::string_view name) const {
  if (auto known = ResourceFor(resource); !known) return tl::make_unexpected(known.error());
  Object object = Find(resource, ns, name);
  if (!object) return tl::make_unexpected(NotFound(resource, name));
  return object;
}

std::vector<Object> Store::All(const GroupResource& resource, std::string_view ns) const {
  std::vector<Object> objects;
  const Table* table = TableOf(resource);
  if (!table) return objects;
  const Table::InOrder& all = table->in_order();
  auto it = ns.empty() ? all.begin() : all.lower_bound(Key{ns, ""});
  for (; it != all.end() && (ns.empty() || it->first.first == ns); ++it) objects.push_back(it->second);
  return objects;
}

size_t Store::Count(const GroupResource& resource) const {
  const Table* table = TableOf(resource);
  return table ? table->in_order().size() : 0;
}

std::vector<Object> Store::Selected(const GroupResource& resource, std::string_view ns,
                                    const Selectors& selectors) const {
  if (!selectors.fields.name().empty() && !ns.empty()) {
    Object object = Find(resource, ns, selectors.fields.name());
    if (!object || !selectors.Matches(*object)) return {};
    return {object};
  }
  std::vector<Object> objects = All(resource, ns);
  if (!selectors.empty()) {
    std::erase_if(objects, [&](const Object& object) { return !selectors.Matches(*object); });
  }
  return objects;
}

ApiResult<ListResult> Store::List(const GroupResource& resource, std::string_view ns, const ListOptions& options) {
  if (auto known = ResourceFor(resource); !known) return tl::make_unexpected(known.error());
  if (!options.continue_token.empty()) return NextPage(options);
  ListResult result;
  result.resource_version = resource_version_;
  result.items = Selected(resource, ns, options.selectors);
  if (options.limit == 0 || result.items.size() <= options.limit) return result;
  const int64_t id = next_list_++;
  open_lists_[id] = {std::move(result.items), resource_version_, options.selectors.empty()};
  if (open_lists_.size() > kMaxOpenLists) open_lists_.erase(open_lists_.begin());
  ListOptions first = options;
  first.continue_token = fmt::format("{}:0", id);
  return NextPage(first);
}

// All pages of a list show the state at its first one, hence the rest is kept.
ApiResult<ListResult> Store::NextPage(const ListOptions& options) {
  long long id = 0, offset = 0;
  if (sscanf(options.continue_token.c_str(), "%lld:%lld", &id, &offset) != 2) {
    return tl::make_unexpected(BadRequest("continue key is not valid"));
  }
  const auto it = open_lists_.find(id);
  if (it == open_lists_.end() || offset < 0 || size_t(offset) > it->second.items.size()) {
    return tl::make_unexpected(Expired(
        "The provided continue parameter is too old to display a consistent list result. You must start a new list "
        "without the continue parameter."));
  }
  const OpenList& open = it->second;
  const size_t size = open.items.size() - size_t(offset);
  const size_t take = options.limit == 0 ? size : std::min(options.limit, size);
  ListResult page;
  page.resource_version = open.resource_version;
  page.items.assign(open.items.begin() + offset, open.items.begin() + offset + int64_t(take));
  if (take == size) return page;
  page.continue_token = fmt::format("{}:{}", id, size_t(offset) + take);
  if (open.counts_remaining) page.remaining = int64_t(size - take);
  return page;
}

// --- Watching ---

int64_t Store::Subscribe(Observer observer) {
  observers_.emplace(next_handle_, std::move(observer));
  return next_handle_++;
}

void Store::Unsubscribe(int64_t handle) { observers_.erase(handle); }

ApiResult<std::vector<WatchEvent>> Store::EventsAfter(const GroupResource& resource, int64_t resource_version) const {
  if (resource_version < oldest_dropped_) {
    return tl::make_unexpected(
        Expired(fmt::format("too old resource version: {} ({})", resource_version, oldest_dropped_)));
  }
  const ApiResource* known = resources_.Find(resource);
  if (!known) return tl::make_unexpected(PathNotFound());
  auto it = std::upper_bound(log_.begin(), log_.end(), resource_version,
                             [](int64_t rv, const WatchEvent& event) { return rv < event.resource_version; });
  std::vector<WatchEvent> events;
  for (; it != log_.end(); ++it) {
    if (it->resource == known->stored_as) events.push_back(*it);
  }
  return events;
}

// --- Changing the state ---

Object Store::Commit(const ApiResource& resource, EventType type, Json object, const Object& previous) {
  object["metadata"]["resourceVersion"] = std::to_string(++resource_version_);
  base::Freeze(object);  // the next version, and a copy of a part, share what they do not change
  auto committed = std::make_shared<const Json>(std::move(object));
  const GroupResource stored_as = resource.stored_as;  // `resource` may be of a definition that goes with this write
  if (type == EventType::kDeleted) {
    tables_[stored_as].Erase(NamespaceOf(*committed), NameOf(*committed));
  } else {
    tables_[stored_as].Put({NamespaceOf(*committed), NameOf(*committed)}, committed);
  }
  WatchEvent event{type, stored_as, committed, previous, resource_version_};
  if (stored_as == kCustomResourceDefinitions) OnDefinitionChanged(event);
  if (stored_as == kPriorityClasses || stored_as == kLimitRanges) templates_.Clear();
  quotas_.Follow(event);
  log_.push_back(event);
  if (log_.size() > event_log_) {
    oldest_dropped_ = log_.front().resource_version;
    log_.pop_front();
  }
  undelivered_.push_back(std::move(event));
  Dispatch();
  return committed;
}

void Store::Dispatch() {
  if (dispatching_) return;
  dispatching_ = true;
  while (!undelivered_.empty()) {
    const WatchEvent event = std::move(undelivered_.front());
    undelivered_.pop_front();
    // An observer may unsubscribe itself or others: walk by handle, not by iterator.
    for (int64_t handle = 0;;) {
      const auto it = observers_.upper_bound(handle);
      if (it == observers_.end()) break;
      handle = it->first;
      const Observer observer = it->second;
      observer(event);
    }
  }
  dispatching_ = false;
}

void Store::OnDefinitionChanged(const WatchEvent& event) {
  ApiResource resource = ResourceOfDefinition(*event.object);
  resource.defined_at = event.resource_version;
  if (event.type == EventType::kDeleted) {
    tables_.erase(resource.id);
    resources_.Remove(resource.id);
  } else {
    resources_.Put(std::move(resource));
  }
}

// --- Identity ---

std::string Store::RandomUid() {
  const uint64_t high = (random_.Next() & ~0xF000ull) | 0x4000ull;  // version 4
  const uint64_t low = (random_.Next() & ~(3ull << 62)) | (2ull << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF, high & 0xFFFF, low >> 48,
                     low & 0xFFFFFFFFFFFFull);
}

std::string Store::RandomSuffix() {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kAlphabet[random_.Below(kAlphabet.size())];
  return suffix;
}

}  // namespace tutti::sim
