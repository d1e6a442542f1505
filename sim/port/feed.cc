// SPDX-License-Identifier: Apache-2.0
#include "sim/port/feed.h"

#include <algorithm>

#include "cluster/selections.h"
#include "sim/store/strategy.h"

namespace tutti::sim {

Feed::Feed(Store& store, cluster::EventSink& sink, Decoded* decoded)
    : store_(store), sink_(sink), decoded_(decoded ? *decoded : own_) {
  subscription_ = store_.Subscribe([this](const WatchEvent& event) {
    if (started_) pending_.push_back(event);
  });
}

Feed::~Feed() { store_.Unsubscribe(subscription_); }

void Feed::Start(std::vector<model::ObjectKind> kinds) {
  started_ = true;
  watched_.push_back({.name = "pods", .resource = kPods, .kind = {}, .version = {}, .posted = {}});
  watched_.push_back({.name = "nodes", .resource = kNodes, .kind = {}, .version = {}, .posted = {}});
  Want(std::move(kinds));
}

void Feed::Want(std::vector<model::ObjectKind> kinds) {
  for (model::ObjectKind& kind : kinds) {
    if (Find(kind.Name())) continue;
    const GroupResource resource{kind.group, kind.resource};
    std::string name = kind.Name();
    watched_.push_back(
        {.name = std::move(name), .resource = resource, .kind = std::move(kind), .version = {}, .posted = {}});
  }
}

bool Feed::HasNews() const {
  return !pending_.empty() ||
         std::ranges::any_of(watched_, [](const Watched& w) { return w.must_list && w.connected; });
}

size_t Feed::Pump() {
  posted_ = 0;
  for (Watched& watched : watched_) {
    if (watched.must_list && watched.connected) Relist(watched);
  }
  while (!pending_.empty()) {
    const WatchEvent event = std::move(pending_.front());
    pending_.pop_front();
    Apply(event);
  }
  return posted_;
}

void Feed::BreakWatch(std::string_view kind_name) {
  if (Watched* watched = Find(kind_name)) watched->connected = false;
}

void Feed::MendWatch(std::string_view kind_name) {
  Watched* watched = Find(kind_name);
  if (!watched || watched->connected) return;
  watched->connected = true;
  watched->must_list = true;
}

bool Feed::Selects(const Watched& watched, const Json& object) {
  return watched.kind.label.empty() || Dig(object, "metadata", "labels").contains(watched.kind.label);
}

Feed::Watched* Feed::Find(std::string_view kind_name) {
  const auto it = std::ranges::find(watched_, kind_name, &Watched::name);
  return it == watched_.end() ? nullptr : &*it;
}

std::string ServedVersion(const Store& store, const model::ObjectKind& kind) {
  const ApiResource* resource = store.resources().Find({kind.group, kind.resource});
  if (!resource) return {};
  for (const std::string& name : kind.versions) {
    const ApiVersion* version = resource->FindVersion(name);
    if (version && version->served) return name;
  }
  return {};
}

std::string Feed::VersionOf(const Watched& watched) const {
  if (!watched.kind.versions.empty()) return ServedVersion(store_, watched.kind);
  const ApiResource* resource = store_.resources().Find(watched.resource);
  return resource ? resource->storage_version : std::string();
}

void Feed::Relist(Watched& watched) {
  watched.must_list = false;
  watched.listed_at = store_.resource_version();
  watched.version = VersionOf(watched);
  if (watched.version.empty()) return Withdraw(watched);
  store_.ForEach(watched.resource, [&](const Store::Key& key, const Object& object) {
    if (!Selects(watched, *object)) return;
    Object& posted = watched.posted[key];
    if (std::exchange(posted, object) != object) PostChanged(watched, object);
  });
  std::vector<Store::Key> gone;
  if (!watched.kind.label.empty() || watched.posted.size() > store_.Count(watched.resource))
    for (const auto& [key, object] : watched.posted)
      if (const Object now = store_.Find(watched.resource, key.first, key.second); !now || !Selects(watched, *now))
        gone.push_back(key);
  PostAllGone(watched, std::move(gone));
  if (watched.announced && watched.served) return;
  watched.announced = watched.served = true;
  Post(cluster::KindSynced{watched.name, true});
}

void Feed::PostAllGone(Watched& watched, std::vector<Store::Key> keys) {
  std::ranges::sort(keys);
  for (const Store::Key& key : keys) {
    PostGone(watched, watched.posted.at(key));
    watched.posted.erase(key);
  }
}

// The kind is not served, or not any more.
void Feed::Withdraw(Watched& watched) {
  std::vector<Store::Key> all;
  for (const auto& [key, object] : watched.posted) all.push_back(key);
  PostAllGone(watched, std::move(all));
  if (watched.announced && !watched.served) return;
  watched.announced = true;
  watched.served = false;
  Post(cluster::KindSynced{watched.name, false});
}

void Feed::Apply(const WatchEvent& event) {
  if (event.resource == kCustomResourceDefinitions) return OnDefinition(event);
  for (Watched& watched : watched_) {
    if (watched.resource != event.resource || !watched.connected || !watched.served) continue;
    if (event.resource_version <= watched.listed_at) continue;
    if (event.type == EventType::kDeleted || !Selects(watched, *event.object)) {
      if (watched.posted.erase({NamespaceOf(*event.object), NameOf(*event.object)}) > 0)
        PostGone(watched, event.object);
    } else {
      watched.posted.insert_or_assign({NamespaceOf(*event.object), NameOf(*event.object)}, event.object);
      PostChanged(watched, event.object);
    }
  }
}

void Feed::OnDefinition(const WatchEvent& event) {
  const GroupResource resource{DigString(*event.object, "spec", "group"),
                               DigString(*event.object, "spec", "names", "plural")};
  for (Watched& watched : watched_) {
    if (watched.resource != resource || !watched.connected) continue;
    // A status written into the definition changes nothing here.
    if (event.type != EventType::kDeleted && watched.served && VersionOf(watched) == watched.version) continue;
    Relist(watched);
  }
}

void Feed::PostChanged(Watched& watched, const Object& object) {
  const bool all = watched.kind.label.empty();
  if (all && watched.resource == kPods) return Post(cluster::PodChanged{decoded_.Pod(object)});
  if (all && watched.resource == kNodes) return Post(cluster::NodeChanged{decoded_.Node(object)});
  if (const auto kind = cluster::FindSelectionKind(watched.name))
    return Post(cluster::SelectionChanged{decoded_.Selection(*kind, watched.name, *object)});
  const ApiResource* resource = store_.resources().Find(watched.resource);
  const bool as_stored = !resource || watched.version == resource->storage_version;
  const Object served =
      as_stored ? object : std::make_shared<const Json>(ToServed(*resource, watched.version, *object));
  if (auto decoded = decoded_.Other(watched.kind, served)) Post(cluster::ObjectChanged{std::move(decoded)});
}

void Feed::PostGone(Watched& watched, const Object& object) {
  decoded_.Drop(UidOf(*object));
  const bool all = watched.kind.label.empty();
  if (all && watched.resource == kPods)
    return Post(cluster::PodGone{NamespaceOf(*object), NameOf(*object), UidOf(*object)});
  if (all && watched.resource == kNodes) return Post(cluster::NodeGone{NameOf(*object)});
  Post(cluster::ObjectGone{watched.name, NamespaceOf(*object), NameOf(*object), UidOf(*object)});
}

void Feed::Post(cluster::FeedEvent event) {
  ++posted_;
  sink_.Post(std::move(event));
}

}  // namespace tutti::sim
