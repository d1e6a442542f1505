// SPDX-License-Identifier: Apache-2.0
#include "app/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "app/run.h"
#include "base/json.h"
#include "base/json_string.h"
#include "cluster/budgets.h"
#include "cluster/json_text.h"
#include "cluster/kinds.h"
#include "cluster/selections.h"
#include "cluster/storage.h"
#include "dialects/dialect.h"
#include "kube/api_path.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

using base::Json;
using sim::Child;
using sim::DigString;

constexpr const char* kOurs = "tutti.dev/v1alpha1";
constexpr std::string_view kUpstream = "kubescheduler.config.k8s.io/";
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Those that the scheduler reads, and those from which pods follow.
std::vector<model::ObjectKind> SnapshotKinds() {
  std::vector<model::ObjectKind> kinds = {cluster::NodeKind(), cluster::PodKind(), cluster::NamespaceKind(),
                                          cluster::Budgets::Kind()};
  const auto add = [&kinds](const std::vector<model::ObjectKind>& more) {
    for (const model::ObjectKind& kind : more)
      if (std::ranges::none_of(kinds, [&](const auto& it) {
            return it.group == kind.group && it.resource == kind.resource;
          }) &&
          kind.resource != "secrets" && kind.resource != "configmaps")
        kinds.push_back(kind);
  };
  add(cluster::StorageKinds());
  add(cluster::SelectionKinds());
  for (const auto& dialect : dialects::MakeDialects()) add(dialect->Kinds());
  add({{"scheduling.k8s.io", "priorityclasses", "PriorityClass", {"v1"}}, {"batch", "jobs", "Job", {"v1"}}});
  return kinds;
}

// Error kNotFound: this version of the kind is not served.
base::Status ReadKind(ApiClient& api, const model::ObjectKind& kind, const std::string& version,
                      std::vector<Json>* objects) {
  auto list = api.List(kube::CollectionPath(kind.group, version, kind.resource));
  if (!list) return tl::make_unexpected(list.error());
  for (Json& object : *list) {
    if (!object.is_object()) continue;
    object["apiVersion"] = sim::JoinApiVersion(kind.group, version);
    object["kind"] = kind.kind;
    StripObject(object);
    objects->push_back(std::move(object));
  }
  return {};
}

void KeepFields(Json& object, const std::set<std::string_view>& fields) {
  Json kept = Json::object();
  for (auto& [name, value] : object.items())
    if (fields.contains(name)) kept[name] = std::move(value);
  object = std::move(kept);
}

void StripContainer(Json& container) {
  KeepFields(container, {"name", "image", "resources", "ports", "restartPolicy", "resizePolicy"});
}

void StripContainerStatus(Json& status) {
  KeepFields(status, {"name", "ready", "started", "restartCount", "state", "resources", "allocatedResources"});
  if (const auto state = status.find("state"); state != status.end() && state->is_object())
    for (auto& [name, value] : state->items())
      if (value.is_object()) value.erase("message");
}

// Returns the strip function for the items of a field; null: it has none.
void (*StripOf(std::string_view field))(Json&) {
  if (field == "containers" || field == "initContainers" || field == "ephemeralContainers") return StripContainer;
  if (field == "containerStatuses" || field == "initContainerStatuses" || field == "ephemeralContainerStatuses")
    return StripContainerStatus;
  return nullptr;
}

// Commands, and settings of other operators, in which users write passwords.
bool HoldsSecrets(std::string_view field, const Json& value) {
  if (field == "env" || field == "envFrom") return value.is_array();
  return field == "entrypoint" || field == "runtimeEnvYAML" || field == "redisPassword" || field == "redis-password" ||
         field == "caBundle";
}

}  // namespace

void StripObject(Json& value) {
  if (value.is_array())
    for (Json& item : value) StripObject(item);
  if (!value.is_object()) return;
  const std::string kind = DigString(value, "kind");
  Json kept = Json::object();
  for (auto& [field, inner] : value.items()) {
    const bool is_data = field == "data" || field == "stringData" || field == "binaryData";
    if ((is_data && (kind == "Secret" || kind == "ConfigMap")) || field == "managedFields" || field == kLastApplied ||
        HoldsSecrets(field, inner))
      continue;
    if (const auto strip = StripOf(field); strip != nullptr && inner.is_array())
      for (Json& item : inner)
        if (item.is_object()) strip(item);
    StripObject(inner);
    kept[field] = std::move(inner);
  }
  value = std::move(kept);
}

base::Result<std::vector<Json>> ReadSnapshot(ApiClient& api, std::vector<std::string>* notes) {
  std::vector<Json> objects;
  for (const model::ObjectKind& kind : SnapshotKinds()) {
    base::Status read = base::Fail(base::ErrorCode::kNotFound, "");
    for (const std::string& version : kind.versions)
      if (!read && read.error().code == base::ErrorCode::kNotFound) read = ReadKind(api, kind, version, &objects);
    if (read || read.error().code == base::ErrorCode::kNotFound) continue;
    if (kind == cluster::NodeKind() || kind == cluster::PodKind()) return tl::make_unexpected(read.error());
    notes->push_back(fmt::format("left out: {}: {}", kind.Name(), read.error().message));
  }
  return objects;
}

std::vector<Json> ConfigurationIn(const Json& configz) {
  std::vector<Json> documents;
  if (const Json& ours = Child(configz, "tutti.dev"); ours.is_object()) documents.push_back(ours);
  Json profiles = Json::array();
  for (const Json& profile : Child(Child(configz, "componentconfig"), "profiles")) {
    // keepNodesWhole is for profiles that name no plugins. So one with the default plugins is written without them.
    const std::string name = DigString(profile, "schedulerName");
    Config config;
    config.profiles.emplace_back().config.scheduler_name = name;
    const Json shown = cluster::ParseJson(ConfigJson(config));
    const Json& defaults = Child(Child(shown, "componentconfig"), "profiles");
    profiles.push_back(defaults.is_array() && defaults.size() == 1 && defaults[0] == profile
                           ? Json{{"schedulerName", name}}
                           : profile);
  }
  if (!profiles.empty())
    documents.push_back({{"apiVersion", std::string(kUpstream) + "v1"},
                         {"kind", "KubeSchedulerConfiguration"},
                         {"profiles", std::move(profiles)}});
  return documents;
}

std::string SnapshotText(const std::vector<Json>& objects) {
  std::string text = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
  for (size_t i = 0; i < objects.size(); ++i) text += (i == 0 ? "\n" : ",\n") + base::PrintJson(objects[i]);
  return text + "\n]}\n";
}

base::Result<std::optional<Config>> TakeConfiguration(std::vector<sim::Manifest>* manifests) {
  std::vector<sim::Manifest> configurations, others;
  for (sim::Manifest& one : *manifests) {
    const std::string& version = DigString(one.object, "apiVersion");
    (version == kOurs || version.starts_with(kUpstream) ? configurations : others).push_back(std::move(one));
  }
  *manifests = std::move(others);
  if (configurations.empty()) return std::nullopt;
  Config config;
  for (const sim::Manifest& one : configurations)
    if (const base::Status read = ReadConfig(base::PrintJson(one.object), one.Where(), &config); !read)
      return tl::make_unexpected(read.error());
  return config;
}

}  // namespace tutti::app
