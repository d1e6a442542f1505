// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/source.h"

#include <algorithm>

#include "kube/api_path.h"
#include "tests/simulation/network.h"

namespace tutti::simulation {

// --- From the store ---

void StoreSource::Start(std::vector<model::ObjectKind> kinds) {
  kinds_ = kinds;
  feed_.Start(std::move(kinds));
}

void StoreSource::Look() {
  if (fresh_ && !broken_.contains("pods")) {
    Expire("pods");
    feed_.Pump();
    std::exchange(fresh_, nullptr)();
  }
  feed_.Pump();
}

std::optional<Version> StoreSource::Covered(const std::string& kind) const {
  return broken_.contains(kind) ? std::nullopt : std::optional(store_.resource_version());
}

void StoreSource::Break(const std::string& kind, base::Random&) { Silence(kind); }

void StoreSource::Silence(const std::string& kind) {
  feed_.BreakWatch(kind);
  broken_.insert(kind);
}

void StoreSource::Mend(const std::string& kind) {
  if (broken_.erase(kind) > 0) feed_.MendWatch(kind);
}

void StoreSource::MendAll() {
  for (const std::string& kind : std::exchange(broken_, {})) feed_.MendWatch(kind);
}

void StoreSource::Expire(const std::string& kind) {
  feed_.BreakWatch(kind);
  feed_.MendWatch(kind);
}

std::string StoreSource::VersionOf(const std::string& group, const std::string& resource) const {
  if (group.empty()) return "v1";
  const auto kind = std::ranges::find_if(
      kinds_, [&](const model::ObjectKind& it) { return it.group == group && it.resource == resource; });
  return kind == kinds_.end() ? "" : sim::ServedVersion(store_, *kind);
}

bool StoreSource::HasStatus(const std::string& group, const std::string& version, const std::string& resource) const {
  const sim::ApiResource* served = store_.resources().Find({group, resource});
  const sim::ApiVersion* it = served ? served->FindVersion(version) : nullptr;
  return it ? it->has_status : group.empty();
}

// --- Over the network ---

WireSource::WireSource(sim::Store& store, Network& network, base::Random& random, cluster::EventSink& sink)
    : store_(store), network_(network), feed_(network, network, random, sink) {}

void WireSource::Start(std::vector<model::ObjectKind> kinds) {
  for (const char* built_in : {"pods", "nodes"}) kinds_[built_in] = {{"", built_in, "", {"v1"}}, {}};
  for (const model::ObjectKind& kind : kinds) kinds_[kind.Name()] = {kind, {}};
  for (auto& [name, it] : kinds_)
    for (const std::string& version : it.kind.versions)
      it.watches.push_back(&network_.LastWatch(kube::CollectionPath(it.kind.group, version, it.kind.resource)));
  feed_.Start(std::move(kinds));
}

std::string WireSource::PathOf(const std::string& kind) const {
  const model::ObjectKind& it = kinds_.at(kind).kind;
  const std::string version = feed_.WatchedVersion(it.group, it.resource);
  return version.empty() ? "" : kube::CollectionPath(it.group, version, it.resource);
}

std::optional<Version> WireSource::Covered(const std::string& kind) const {
  const Followed& it = kinds_.at(kind);
  for (const kube::RequestId* watch : it.watches)
    if (const auto covered = network_.Covered(*watch)) return covered;
  if (!feed_.WatchedVersion(it.kind.group, it.kind.resource).empty()) return std::nullopt;
  // Of a kind that is not served nothing can be heard.
  const bool served = !sim::ServedVersion(store_, it.kind).empty();
  return served ? std::nullopt : std::optional(store_.resource_version());
}

void WireSource::Break(const std::string& kind, base::Random& random) {
  const std::string path = PathOf(kind);
  if (path.empty()) return;
  cut_[kind] = path;
  network_.Cut(path, random);
}

void WireSource::Silence(const std::string& kind) {
  if (const std::string path = PathOf(kind); !path.empty()) network_.Silence(path);
}

void WireSource::Mend(const std::string& kind) {
  if (const auto cut = cut_.extract(kind)) network_.Restore(cut.mapped());
}

void WireSource::MendAll() { network_.MendWatches(); }

void WireSource::Expire(const std::string& kind) {
  if (const std::string path = PathOf(kind); !path.empty()) network_.Expire(path);
}

}  // namespace tutti::simulation
