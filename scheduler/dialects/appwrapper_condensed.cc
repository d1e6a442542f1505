// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_condensed.h"

#include <fmt/format.h>

#include <utility>

#include "base/json.h"

namespace tutti::dialects {
namespace {

using base::Json;

bool HasKey(const Json& object, const char* key) { return object.is_object() && object.contains(key); }

// Puts the containers of a group into a template.
void MakeTemplate(Json* group, const char* container_name) {
  if (!HasKey(*group, "containers") || HasKey(*group, "template")) return;
  Json containers = (*group)["containers"];
  group->erase("containers");
  if (containers.is_array())
    for (Json& container : containers)
      if (container.is_object() && !container.contains("name")) container["name"] = container_name;
  (*group)["template"] = {{"spec", {{"containers", std::move(containers)}}}};
  if (!HasKey(*group, "rayStartParams")) (*group)["rayStartParams"] = Json::object();
}

// The smallest and the largest size are those that are asked for, so that the cluster keeps its size.
void NameGroup(Json* group, size_t index) {
  if (!HasKey(*group, "groupName")) (*group)["groupName"] = fmt::format("workers-{}", index);
  if (!HasKey(*group, "replicas") || !(*group)["replicas"].is_number_integer()) return;
  const Json replicas = (*group)["replicas"];
  for (const char* bound : {"minReplicas", "maxReplicas"})
    if (!HasKey(*group, bound)) (*group)[bound] = replicas;
}

}  // namespace

Json InLongForm(Json object, const std::string& name) {
  if (!HasKey(object, "kind") || object["kind"] != "RayCluster" || HasKey(object, "apiVersion")) return object;
  object["apiVersion"] = "ray.io/v1";
  if (!HasKey(object, "metadata") || !object["metadata"].is_object()) object["metadata"] = Json::object();
  if (!HasKey(object["metadata"], "name")) object["metadata"]["name"] = name;
  if (!HasKey(object, "spec") || !object["spec"].is_object()) return object;
  Json& spec = object["spec"];
  if (HasKey(spec, "headGroupSpec")) MakeTemplate(&spec["headGroupSpec"], "ray-head");
  if (!HasKey(spec, "workerGroupSpecs") || !spec["workerGroupSpecs"].is_array()) return object;
  size_t index = 0;
  for (Json& group : spec["workerGroupSpecs"]) {
    if (!group.is_object()) continue;
    MakeTemplate(&group, "ray-worker");
    NameGroup(&group, index++);
  }
  return object;
}

}  // namespace tutti::dialects
