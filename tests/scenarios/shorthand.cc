// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/shorthand.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

namespace tutti::scenarios {
namespace {

using sim::Json;

// A quantity may be written as a number.
std::string Quantity(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// What an entry says beside the words that have a meaning of their own: amounts of resources.
Json Amounts(const Json& entry, const std::set<std::string, std::less<>>& words) {
  Json amounts = Json::object();
  for (const auto& [word, value] : entry.items())
    if (!words.contains(word)) amounts[word] = Quantity(value);
  return amounts;
}

template <class Make>
std::vector<Json> Expand(const Json& entries, Make make) {
  std::vector<Json> objects;
  for (const auto& [name, entry] : sim::MapOf(entries).items()) {
    const int64_t count = sim::IntOf(sim::Dig(entry, "count"), -1);
    if (count < 0) objects.push_back(make(name, entry));
    for (int64_t i = 0; i < count; ++i) objects.push_back(make(fmt::format("{}-{}", name, i), entry));
  }
  return objects;
}

Json MakeNode(const std::string& name, const Json& entry) {
  Json room = {{"pods", "110"}, {"memory", "64Gi"}};
  room.update(Amounts(entry, {"count", "labels", "taints", "unschedulable"}));
  Json labels = {{"kubernetes.io/hostname", name}};
  labels.update(sim::MapOf(sim::Dig(entry, "labels")));
  Json spec = Json::object();
  for (const char* word : {"taints", "unschedulable"})
    if (entry.contains(word)) spec[word] = entry[word];
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
          {"spec", std::move(spec)},
          {"status", {{"capacity", room}, {"allocatable", room}}}};
}

Json MakePod(const std::string& full_name, const Json& entry) {
  const auto [ns, name] = SplitName(full_name);
  Json metadata = {{"namespace", ns}, {"name", name}};
  for (const char* word : {"labels", "annotations"})
    if (entry.contains(word)) metadata[word] = entry[word];
  if (entry.contains("gang")) metadata["annotations"]["scheduling.k8s.io/group-name"] = entry["gang"];
  const std::string& scheduler = sim::DigString(entry, "scheduler");
  const Json requests =
      Amounts(entry, {"count", "labels", "annotations", "gang", "scheduler", "node", "phase", "priority", "spec"});
  Json limits = Json::object();
  for (const auto& [resource, amount] : requests.items())
    if (resource.find('/') != std::string::npos) limits[resource] = amount;
  Json container = {{"name", "main"}, {"image", "busybox"}, {"resources", {{"requests", requests}}}};
  if (!limits.empty()) container["resources"]["limits"] = limits;
  Json spec = {{"schedulerName", scheduler.empty() ? "tutti" : scheduler}, {"containers", {std::move(container)}}};
  if (entry.contains("node")) spec["nodeName"] = entry["node"];
  if (entry.contains("priority")) spec["priority"] = entry["priority"];
  if (entry.contains("spec")) spec.merge_patch(entry["spec"]);
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
  if (entry.contains("phase")) pod["status"] = {{"phase", entry["phase"]}};
  return pod;
}

}  // namespace

ObjectName SplitName(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return {"default", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::vector<Json> ExpandNodes(const Json& nodes) { return Expand(nodes, MakeNode); }
std::vector<Json> ExpandPods(const Json& pods) { return Expand(pods, MakePod); }

}  // namespace tutti::scenarios
