// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/node_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cluster/json_decode.h"
#include "model/tolerates.h"

namespace tutti::sim {
namespace {

using model::ResourceList;

// Why no node of this shape may hold the pod, whatever its size.
std::optional<std::string> KeptAway(const NodeShape& shape, const model::Pod& pod) {
  for (const model::Taint& taint : shape.taints) {
    const auto tolerates = [&](const model::Toleration& one) { return model::Tolerates(one, taint); };
    if (taint.effect != "PreferNoSchedule" && std::ranges::none_of(pod.spec->tolerations, tolerates))
      return fmt::format("it does not tolerate the taint {}", taint.key);
  }
  for (const auto& [key, value] : pod.spec->node_selector) {
    const std::string* const has = model::Find(shape.labels, key);
    if (has == nullptr || *has != value) return fmt::format("its nodeSelector asks for {}={}", key, value);
  }
  return std::nullopt;
}

ResourceList RequestsOf(const model::Pod& pod) {
  ResourceList requests = pod.spec->requests;
  requests.Set(model::kPods, 1);
  return requests;
}

// How many times `requests` is in `free`.
int64_t Times(const ResourceList& requests, const ResourceList& free) {
  int64_t times = INT64_MAX;
  for (const auto& [name, amount] : requests) {
    if (amount > 0) times = std::min(times, free.Get(name) / amount);
  }
  return times;
}

void Take(const ResourceList& requests, int64_t times, ResourceList& free) {
  for (const auto& [name, amount] : requests) free.Set(name, free.Get(name) - amount * times);
}

std::string FirstTooLarge(const ResourceList& requests, const ResourceList& allocatable) {
  for (const auto& [name, amount] : requests) {
    if (amount > allocatable.Get(name))
      return fmt::format("it asks for {} {}, and a node has {}", model::FormatAmount(name, amount), name,
                         model::FormatAmount(name, allocatable.Get(name)));
  }
  return "";
}

}  // namespace

base::Result<NodeShape> ParseNodeShape(Json manifest) {
  if (DigString(manifest, "kind") != "Node" || NameOf(manifest).empty())
    return base::Invalid("the node of an autoscaler is a manifest of kind Node with a name");
  Json& status = ObjectAt(manifest, "status");
  for (const auto& [field, from] : {std::pair("allocatable", "capacity"), std::pair("capacity", "allocatable")}) {
    if (Child(status, field).empty() && status.contains(from)) status[field] = Json(status[from]);
  }
  const auto node = cluster::DecodeNode(manifest);
  if (!node) return tl::make_unexpected(node.error());
  NodeShape shape;
  shape.allocatable = node->allocatable;
  if (shape.allocatable.empty())
    return base::Invalid(fmt::format("Node {}: status.allocatable and status.capacity are missing", NameOf(manifest)));
  if (!shape.allocatable.Has(model::kPods)) shape.allocatable.Set(model::kPods, 110);
  shape.taints = node->taints;
  shape.labels = *node->meta.labels;
  if (const std::string& most = AnnotationOf(manifest, kMostNodesAnnotation); !most.empty()) {
    const char* const end = most.data() + most.size();
    if (std::from_chars(most.data(), end, shape.most).ptr != end || shape.most < 0)
      return base::Invalid(
          fmt::format("Node {}: {}: \"{}\" is no number", NameOf(manifest), kMostNodesAnnotation, most));
  }
  shape.manifest = std::move(manifest);
  return shape;
}

base::Result<int64_t> NodesFor(const NodeShape& shape, const std::vector<PodDemand>& demands) {
  std::vector<ResourceList> free;  // of each node so far
  for (const PodDemand& demand : demands) {
    const ResourceList requests = RequestsOf(demand.pod);
    const auto refuse = [&](const std::string& why) {
      return base::Invalid(
          fmt::format("no node of {} holds a pod of {}: {}", NameOf(shape.manifest), demand.name, why));
    };
    if (const auto why = KeptAway(shape, demand.pod)) return refuse(*why);
    if (const std::string why = FirstTooLarge(requests, shape.allocatable); !why.empty()) return refuse(why);
    int64_t left = demand.count;
    for (ResourceList& node : free) {
      const int64_t here = std::min(left, Times(requests, node));
      Take(requests, here, node);
      left -= here;
    }
    const int64_t a_node = Times(requests, shape.allocatable);
    if ((left + a_node - 1) / a_node + int64_t(free.size()) > shape.most)
      return base::Invalid(fmt::format("more than {} nodes of {} would be needed", shape.most, NameOf(shape.manifest)));
    while (left > 0) {
      const int64_t here = std::min(left, a_node);
      Take(requests, here, free.emplace_back(shape.allocatable));
      left -= here;
    }
  }
  return int64_t(free.size());
}

}  // namespace tutti::sim
