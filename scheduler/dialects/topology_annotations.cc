// SPDX-License-Identifier: Apache-2.0
#include "dialects/topology_annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dialects/kai_topology.h"
#include "dialects/kueue_topology.h"
#include "dialects/tutti_topology.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using model::TopologyRequest;

// prefix/name as label keys are; what is wrong in other ways is found on no node, and said so. Those of two slashes are
// labels that dialects add.
bool IsLabelKey(std::string_view key) {
  return !key.empty() && key.size() <= 317 && std::ranges::count(key, '/') <= 1 && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '/';
  });
}

bool MayAsk(const model::StringMap& annotations) {
  return std::ranges::any_of(annotations, [](const auto& item) {
    return item.first.find("topology") != std::string::npos || item.first.find("/podset-") != std::string::npos;
  });
}

}  // namespace

std::string Annotation(const model::StringMap& annotations, std::string_view key) {
  const std::string* value = model::Find(annotations, key);
  return value ? *value : std::string();
}

std::string LevelIn(const model::StringMap& annotations, std::string_view key, TopologyRequest* request) {
  const std::string* value = model::Find(annotations, key);
  if (!value) return {};
  if (IsLabelKey(*value)) return *value;
  request->problem = OneLine(fmt::format(
      "annotation {}: {} is no label key of nodes; write one such as topology.kubernetes.io/zone", key, Named(*value)));
  return {};
}

int64_t SizeIn(const model::StringMap& annotations, std::string_view key, TopologyRequest* request) {
  const std::string* value = model::Find(annotations, key);
  if (!value) return 0;
  int64_t size = 0;
  const char* end = value->data() + value->size();
  if (const auto [stop, error] = std::from_chars(value->data(), end, size);
      error == std::errc() && stop == end && size >= 1 && size <= 1'000'000)
    return size;
  request->problem =
      OneLine(fmt::format("annotation {}: {} is no size; write a whole number from 1", key, Named(*value)));
  return 0;
}

std::shared_ptr<const TopologyRequest> TopologyOfPod(const model::Pod& pod, std::string_view role) {
  const model::StringMap& annotations = pod.meta.annotations;
  if (!MayAsk(annotations)) return nullptr;
  TopologyRequest request;
  if (!ReadTuttiTopology(annotations, role, &request) && !ReadKueueTopology(annotations, role, &request))
    ReadKaiTopology(annotations, role, &request);
  if (request.empty() && request.problem.empty()) return nullptr;
  return std::make_shared<const TopologyRequest>(std::move(request));
}

TopologyRequest TopologyOfGang(const model::StringMap& annotations) {
  TopologyRequest request;
  if (!MayAsk(annotations)) return request;
  if (!ReadTuttiTopology(annotations, "", &request)) ReadKaiTopology(annotations, "", &request);
  return request;
}

}  // namespace tutti::dialects
