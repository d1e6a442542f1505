// SPDX-License-Identifier: Apache-2.0
#include "sim/feed.h"

#include <algorithm>

#include "base/log.h"
#include "cluster/json_decode.h"
#include "sim/strategy.h"

namespace tutti::sim {
namespace {

void LogProblems(std::string_view kind, const Json& object, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    base::LogWarn("object has a field that cannot be read",
                  {{"kind", kind}, {"object", KeyOf(object)}, {"problem", problem}});
  }
}

}  // namespace

std::shared_ptr<const model::Pod> DecodedPods::Get(const Object& object) {
  auto& [of, pod] = pods_[UidOf(*object)];
  if (of == object) return pod;
  std::vector<std::string> problems;
  pod = std::make_shared<const model::Pod>(cluster::DecodePodLeniently(*object, &problems));
  LogProblems("pods", *object, problems);
  of = object;
  return pod;
}

Feed::Feed(Store& store, cluster::EventSink& sink, DecodedPods* decoded)
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
  for (model::ObjectKind& kind : kinds) {
    const GroupResource resource{kind.group, kind.resource};
    watched_.push_back(
        {.name = kind.Name(), .resource = resource, .kind = std::move(kind), .version = {}, .posted = {}});
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

Feed::Watched* Feed::Find(std::string_view kind_name) {
  const auto it = std::ranges::find(watched_, kind_name, &Watched::name);
  return it == watched_.end() ? nullptr : &*it;
}

std::string Feed::ServedVersion(const Watched& watched) const {
  const ApiResource* resource = store_.resources().Find(watched.resource);
  if (!resource) return {};
  if (watched.kind.versions.empty()) return resource->storage_version;
  for (const std::string& name : watched.kind.versions) {
    const ApiVersion* version = resource->FindVersion(name);
    if (version && version->served) return name;
  }
  return {};
}

void Feed::Relist(Watched& watched) {
  watched.must_list = false;
  watched.listed_at = store_.resource_version();
  watched.version = ServedVersion(watched);
  if (watched.version.empty()) return Withdraw(watched);
  std::map<Key, Posted> before = watched.posted;
  for (const Object& object : store_.All(watched.resource)) {
    const Key key{NamespaceOf(*object), NameOf(*object)};
    const auto known = before.find(key);
    const bool same = known != before.end() && known->second.uid == UidOf(*object) &&
                      known->second.resource_version == DigString(*object, "metadata", "resourceVersion");
    if (known != before.end()) before.erase(known);
    if (!same) PostChanged(watched, object);
  }
  for (const auto& [key, posted] : before) PostGone(watched, key, posted.uid);
  if (watched.announced && watched.served) return;
  watched.announced = watched.served = true;
  Post(cluster::KindSynced{watched.name, true});
}

// The kind is not served, or not any more.
void Feed::Withdraw(Watched& watched) {
  const std::map<Key, Posted> before = watched.posted;
  for (const auto& [key, posted] : before) PostGone(watched, key, posted.uid);
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
    if (event.type == EventType::kDeleted) {
      PostGone(watched, {NamespaceOf(*event.object), NameOf(*event.object)}, UidOf(*event.object));
    } else {
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
    if (event.type != EventType::kDeleted && watched.served && ServedVersion(watched) == watched.version) continue;
    Relist(watched);
  }
}

void Feed::PostChanged(Watched& watched, const Object& object) {
  watched.posted[{NamespaceOf(*object), NameOf(*object)}] = {UidOf(*object),
                                                             DigString(*object, "metadata", "resourceVersion")};
  if (watched.resource == kPods) return Post(cluster::PodChanged{decoded_.Get(object)});
  std::vector<std::string> problems;
  if (watched.resource == kNodes) {
    Post(cluster::NodeChanged{std::make_shared<const model::Node>(cluster::DecodeNodeLeniently(*object, &problems))});
    return LogProblems(watched.name, *object, problems);
  }
  const ApiResource* resource = store_.resources().Find(watched.resource);
  const bool as_stored = !resource || watched.version == resource->storage_version;
  const Object served =
      as_stored ? object : std::make_shared<const Json>(ToServed(*resource, watched.version, *object));
  auto decoded = cluster::DecodeObject(watched.kind, served);
  if (!decoded) return LogProblems(watched.name, *object, {decoded.error().message});
  Post(cluster::ObjectChanged{std::make_shared<const model::Object>(std::move(*decoded))});
}

void Feed::PostGone(Watched& watched, const Key& key, const std::string& uid) {
  watched.posted.erase(key);
  if (watched.resource == kPods) decoded_.Drop(uid);
  if (watched.resource == kPods) return Post(cluster::PodGone{key.first, key.second, uid});
  if (watched.resource == kNodes) return Post(cluster::NodeGone{key.second});
  Post(cluster::ObjectGone{watched.name, key.first, key.second, uid});
}

void Feed::Post(cluster::FeedEvent event) {
  ++posted_;
  sink_.Post(std::move(event));
}

}  // namespace tutti::sim
