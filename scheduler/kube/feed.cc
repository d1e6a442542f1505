// SPDX-License-Identifier: Apache-2.0
#include "kube/feed.h"

#include <algorithm>

#include "base/log.h"
#include "cluster/selections.h"
#include "kube/api_path.h"

namespace tutti::kube {
namespace {

constexpr const char* kMetadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr const char* kMetadataListOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

// The store of CustomResourceDefinitions. It only notices that one of them changed.
class DefinitionStore final : public KindStore {
 public:
  explicit DefinitionStore(Discovery& discovery) : discovery_(discovery) {}

 private:
  void PostChanged(const WireObject&, Entry&) override { discovery_.AskSoon(); }
  void PostGone(const Entry&) override { discovery_.AskSoon(); }
  Discovery& discovery_;
};

Reflector::Options OptionsOf(const KindStore& store, std::string name, std::string path, std::string label = {}) {
  Reflector::Options options{std::move(name), std::move(path)};
  options.label = std::move(label);
  if (store.reads_protobuf()) {
    options.list_accept = kProtobufOrJson;
    options.watch_accept = kWatchProtobufOrJson;
  }
  return options;
}

}  // namespace

KubeFeed::KubeFeed(Loop& loop, Transport& transport, base::Random& random, cluster::EventSink& sink)
    : loop_(loop), transport_(transport), random_(random), sink_(sink), discovery_(loop, transport, random) {}

KubeFeed::~KubeFeed() = default;

void KubeFeed::Start(std::vector<model::ObjectKind> kinds) {
  loop_.Post([this, kinds = std::move(kinds)] { StartOnLoop(kinds); });
}

void KubeFeed::Want(std::vector<model::ObjectKind> kinds) {
  loop_.Post([this, kinds = std::move(kinds)]() mutable {
    std::erase_if(kinds, [this](const auto& kind) {
      return std::ranges::any_of(kinds_, [&](const auto& known) { return known->kind.Name() == kind.Name(); });
    });
    if (kinds.empty()) return;
    for (const model::ObjectKind& kind : kinds) Add(kind);
    discovery_.Want(kinds);
  });
}

void KubeFeed::Add(const model::ObjectKind& kind) {
  auto watched = std::make_unique<WatchedKind>();
  watched->kind = kind;
  if (const auto selection = cluster::FindSelectionKind(kind.Name()))
    watched->store = std::make_unique<SelectionStore>(sink_, *selection);
  else
    watched->store = std::make_unique<ObjectStore>(sink_, kind);
  kinds_.push_back(std::move(watched));
}

void KubeFeed::StartOnLoop(const std::vector<model::ObjectKind>& kinds) {
  started_ms_ = loop_.Now();
  WatchBuiltIn("nodes", std::make_unique<NodeStore>(sink_));
  pods_ = &WatchBuiltIn("pods", std::make_unique<PodStore>(sink_, specs_));
  for (const model::ObjectKind& kind : kinds) Add(kind);
  discovery_.Start(kinds, [this] { OnDiscovery(); });
  WatchDefinitions();
}

KubeFeed::WatchedKind& KubeFeed::WatchBuiltIn(const char* resource, std::unique_ptr<KindStore> store) {
  auto watched = std::make_unique<WatchedKind>();
  watched->kind = {"", resource, "", {"v1"}};
  watched->built_in = true;
  watched->store = std::move(store);
  watched->version = "v1";
  WatchedKind& kind = *watched;
  kinds_.push_back(std::move(watched));
  kind.reflector = std::make_unique<Reflector>(OptionsOf(*kind.store, resource, CollectionPath("", "v1", resource)),
                                               CallbacksOf(kind), *kind.store, loop_, transport_, random_);
  kind.reflector->Start();
  return kind;
}

Reflector::Callbacks KubeFeed::CallbacksOf(WatchedKind& kind) {
  Reflector::Callbacks callbacks;
  callbacks.synced = [this, &kind] { PostSynced(kind); };
  callbacks.failing = [this, &kind](const std::string& why) { OnFailing(kind, why); };
  if (!kind.built_in) callbacks.not_found = [this, &kind] { OnNotFound(kind); };
  return callbacks;
}

void KubeFeed::WatchDefinitions() {
  definitions_ = std::make_unique<DefinitionStore>(discovery_);
  definitions_reflector_ = std::make_unique<Reflector>(
      Reflector::Options{"customresourcedefinitions",
                         CollectionPath("apiextensions.k8s.io", "v1", "customresourcedefinitions"), kMetadataListOnly,
                         kMetadataOnly},
      Reflector::Callbacks{}, *definitions_, loop_, transport_, random_);
  definitions_reflector_->Start();
}

void KubeFeed::OnDiscovery() {
  for (const auto& kind : kinds_) {
    if (kind->built_in) continue;
    const auto version = discovery_.BestVersion(kind->kind);
    kind->left_out = !version;
    if (!version && kind->reflector == nullptr)
      Unwatch(*kind);
    else if (!version)
      kind->reflector->Relist();
    else if (kind->reflector == nullptr || kind->version != *version)
      Watch(*kind, *version);
    if (version) kind->has_status = HasStatus(kind->kind.group, *version, kind->kind.resource);
  }
}

void KubeFeed::Watch(WatchedKind& kind, const std::string& version) {
  base::LogAt(2, "watching", {{"kind", kind.kind.Name()}, {"version", version}});
  kind.version = version;
  kind.store->ForgetVersions();
  kind.reflector = std::make_unique<Reflector>(
      OptionsOf(*kind.store, kind.kind.Name(), CollectionPath(kind.kind.group, version, kind.kind.resource),
                kind.kind.label),
      CallbacksOf(kind), *kind.store, loop_, transport_, random_);
  kind.reflector->Start();
}

// Handles a 404 of a kind's list. Discovery alone does not prove that a kind is gone: a starting server leaves out
// kinds that it does not know yet, but answers 503 for them.
void KubeFeed::OnNotFound(WatchedKind& kind) {
  if (kind.left_out)
    Unwatch(kind);
  else
    discovery_.AskSoon();
}

void KubeFeed::Unwatch(WatchedKind& kind) {
  if (kind.reflector != nullptr) base::LogInfo("no longer served", {{"kind", kind.kind.Name()}});
  kind.reflector = nullptr;
  kind.version.clear();
  kind.store->Clear();
  kind.said_unreadable = false;
  if (!std::exchange(kind.said_unserved, true)) {
    kind.synced = false;
    sink_.Post(cluster::KindSynced{kind.kind.Name(), false});
    LogListed(kind);
  }
  Arrived(kind);
}

void KubeFeed::PostSynced(WatchedKind& kind) {
  const bool was_unreadable = std::exchange(kind.said_unreadable, false);
  kind.said_unserved = false;
  if (!std::exchange(kind.synced, true) || was_unreadable) sink_.Post(cluster::KindSynced{kind.kind.Name(), true});
  LogListed(kind);
  Arrived(kind);
}

void KubeFeed::OnFailing(WatchedKind& kind, const std::string& why) {
  if ((kind.synced && !kind.awaited) || std::exchange(kind.said_unreadable, true)) return;
  base::LogWarn("a kind cannot be listed", {{"kind", kind.kind.Name()}, {"error", why}});
  sink_.Post(cluster::KindUnreadable{kind.kind.Name(), why});
  if (!kind.built_in) Arrived(kind);
}

void KubeFeed::Arrived(WatchedKind& kind) {
  kind.awaited = false;
  if (!pods_synced() || std::ranges::any_of(kinds_, [](const auto& each) { return each->awaited; })) return;
  for (Task& done : std::exchange(refreshed_, {})) done();
}

void KubeFeed::LogListed(const WatchedKind& kind) {
  if (all_listed_) {
    if (kind.synced) base::LogInfo("listed again", {{"kind", kind.kind.Name()}, {"objects", kind.store->size()}});
    return;
  }
  size_t nodes = 0, pods = 0, others = 0;
  for (const auto& one : kinds_) {
    if (!one->synced && !one->said_unserved && !one->said_unreadable) return;
    (one.get() == pods_ ? pods : one->kind.Name() == "nodes" ? nodes : others) += one->store->size();
  }
  all_listed_ = true;
  base::LogInfo("listed", {{"nodes", nodes},
                           {"pods", pods},
                           {"others", others},
                           {"seconds", static_cast<double>(loop_.Now() - started_ms_) / 1000}});
}

bool KubeFeed::pods_synced() const { return pods_ != nullptr && pods_->synced; }

void KubeFeed::Refresh(Task done) {
  refreshed_.push_back(std::move(done));
  for (const auto& kind : kinds_) {
    if ((kind.get() != pods_ && !kind->kind.is_record) || kind->reflector == nullptr) continue;
    kind->awaited = kind->built_in || !kind->said_unreadable;
    kind->reflector->Relist();
  }
}

const KubeFeed::WatchedKind* KubeFeed::Find(const std::string& group, const std::string& resource) const {
  for (const auto& kind : kinds_)
    if (kind->kind.group == group && kind->kind.resource == resource && kind->kind.label.empty()) return kind.get();
  for (const auto& kind : kinds_)
    if (kind->kind.group == group && kind->kind.resource == resource) return kind.get();
  return nullptr;
}

std::string KubeFeed::WatchedVersion(const std::string& group, const std::string& resource) const {
  const WatchedKind* kind = Find(group, resource);
  return kind ? kind->version : std::string();
}

bool KubeFeed::HasStatus(const std::string& group, const std::string& version, const std::string& resource) const {
  if (const ServedResource* served = discovery_.Find(group, version, resource)) return served->has_status;
  const WatchedKind* kind = Find(group, resource);
  return kind && kind->version == version && !kind->built_in ? kind->has_status : group.empty();
}

}  // namespace tutti::kube
