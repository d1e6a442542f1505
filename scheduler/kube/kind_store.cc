// SPDX-License-Identifier: Apache-2.0
#include "kube/kind_store.h"

#include "base/json.h"
#include "base/log.h"
#include "cluster/json_decode.h"
#include "cluster/selections.h"
#include "kube/text_at.h"
#include "model/field_counts.h"

namespace tutti::kube {
namespace {

template <typename T>
bool SameButVersion(const T& a, const T& b) {
  return model::SameBut(a, b, &T::meta) && model::SameBut(a.meta, b.meta, &model::ObjectMeta::resource_version);
}

void Report(std::string_view kind, const model::ObjectMeta& meta, const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  base::LogWarn("an object has a field that cannot be read",
                {{"kind", kind}, {"object", meta.ns + "/" + meta.name}, {"problem", problems.front()}});
}

}  // namespace

KindStore::Identity KindStore::Identify(const WireObject& object) {
  Identity id;
  if (object.json == nullptr) {
    const MetaView meta = DecodeMetaView(object.protobuf);
    return {std::string(meta.ns), std::string(meta.name), std::string(meta.uid), std::string(meta.resource_version)};
  }
  const auto meta = object.json->find("metadata");
  if (meta == object.json->end()) return id;
  return {TextAt(*meta, "namespace"), TextAt(*meta, "name"), TextAt(*meta, "uid"), TextAt(*meta, "resourceVersion")};
}

std::string KindStore::Put(const WireObject& object) {
  Identity id = Identify(object);
  auto [at, fresh] = entries_.try_emplace(id.ns + "/" + id.name);
  Entry& entry = at->second;
  entry.list = list_;
  if (!fresh && entry.uid == id.uid && entry.resource_version == id.resource_version) return id.resource_version;
  if (entry.uid != id.uid) entry.value = nullptr;
  entry.ns = std::move(id.ns);
  entry.name = std::move(id.name);
  entry.uid = std::move(id.uid);
  entry.resource_version = id.resource_version;
  PostChanged(object, entry);
  return id.resource_version;
}

std::string KindStore::Delete(const WireObject& object) {
  Identity id = Identify(object);
  const auto at = entries_.find(id.ns + "/" + id.name);
  if (at != entries_.end() && at->second.uid == id.uid) {
    PostGone(at->second);
    entries_.erase(at);
  }
  return id.resource_version;
}

void KindStore::EndList() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->second.list == list_) {
      ++at;
      continue;
    }
    PostGone(at->second);
    at = entries_.erase(at);
  }
}

void KindStore::Clear() {
  for (const auto& [key, entry] : entries_) PostGone(entry);
  entries_.clear();
}

void KindStore::ForgetVersions() {
  for (auto& [key, entry] : entries_) entry.resource_version.clear();
}

void PodStore::PostChanged(const WireObject& object, Entry& entry) {
  std::shared_ptr<const model::Pod> pod;
  if (object.json != nullptr) {
    std::vector<std::string> problems;
    auto decoded = std::make_shared<model::Pod>(cluster::DecodePodLeniently(*object.json, &problems));
    Report("pods", decoded->meta, problems);
    decoded->spec = specs_.Intern(*decoded->spec);
    specs_.Share(&decoded->meta);
    pod = std::move(decoded);
  } else {
    pod = DecodePod(object.protobuf, &specs_);
  }
  const auto last = std::static_pointer_cast<const model::Pod>(entry.value);
  entry.value = pod;
  if (last != nullptr && pod->bound() && SameButVersion(*last, *pod)) return;
  sink_.Post(cluster::PodChanged{std::move(pod)});
}

void PodStore::PostGone(const Entry& entry) { sink_.Post(cluster::PodGone{entry.ns, entry.name, entry.uid}); }

void NodeStore::PostChanged(const WireObject& object, Entry& entry) {
  std::shared_ptr<const model::Node> node;
  if (object.json != nullptr) {
    std::vector<std::string> problems;
    node = std::make_shared<const model::Node>(cluster::DecodeNodeLeniently(*object.json, &problems));
    Report("nodes", node->meta, problems);
  } else {
    node = DecodeNode(object.protobuf);
  }
  const auto last = std::static_pointer_cast<const model::Node>(entry.value);
  entry.value = node;
  if (last != nullptr && SameButVersion(*last, *node)) return;
  sink_.Post(cluster::NodeChanged{std::move(node)});
}

void NodeStore::PostGone(const Entry& entry) { sink_.Post(cluster::NodeGone{entry.name}); }

void SelectionStore::PostChanged(const WireObject& object, Entry& entry) {
  model::Selection decoded;
  if (object.json != nullptr) {
    std::vector<std::string> problems;
    decoded = cluster::DecodeSelection(kind_, *object.json, &problems);
    model::ObjectMeta meta;
    meta.ns = entry.ns;
    meta.name = entry.name;
    Report(cluster::ObjectKindOf(kind_).Name(), meta, problems);
  } else {
    decoded = DecodeSelection(kind_, object.protobuf);
  }
  const auto last = std::static_pointer_cast<const model::Selection>(entry.value);
  if (last != nullptr && *last == decoded) return;
  auto selection = std::make_shared<const model::Selection>(std::move(decoded));
  entry.value = selection;
  sink_.Post(cluster::SelectionChanged{std::move(selection)});
}

void SelectionStore::PostGone(const Entry& entry) {
  sink_.Post(cluster::ObjectGone{cluster::ObjectKindOf(kind_).Name(), entry.ns, entry.name, entry.uid});
}

void ObjectStore::PostChanged(const WireObject& object, Entry& entry) {
  if (object.json == nullptr) return;                                       // the API server sends this kind as JSON
  if (!object.json->contains("kind")) (*object.json)["kind"] = kind_.kind;  // items of a list do not repeat it
  auto decoded = cluster::DecodeObject(kind_, object.json);
  if (!decoded) {
    base::LogWarn(
        "an object cannot be read",
        {{"kind", kind_.Name()}, {"object", entry.ns + "/" + entry.name}, {"problem", decoded.error().message}});
    return;
  }
  sink_.Post(cluster::ObjectChanged{std::make_shared<const model::Object>(std::move(*decoded))});
}

void ObjectStore::PostGone(const Entry& entry) {
  sink_.Post(cluster::ObjectGone{kind_.Name(), entry.ns, entry.name, entry.uid});
}

}  // namespace tutti::kube
