// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/json.h"
#include "plugins/common/args.h"
#include "plugins/common/label_syntax.h"
#include "plugins/node_resources/fit.h"

namespace tutti::plugins {
namespace {

using base::Invalid;
using json = base::Json;

constexpr int64_t kMostShapeScore = 10;

base::Result<std::vector<std::pair<int64_t, int64_t>>> ReadShape(const json& ratio, const std::string& path) {
  if (const auto checked = CheckFields(ratio, path, {"shape"}); !checked) return tl::make_unexpected(checked.error());
  if (!ratio.contains("shape") || !ratio["shape"].is_array() || ratio["shape"].empty())
    return Invalid(path + ".shape: at least one point must be specified");
  std::vector<std::pair<int64_t, int64_t>> shape;
  for (size_t i = 0; i < ratio["shape"].size(); ++i) {
    const json& point = ratio["shape"][i];
    const std::string at = fmt::format("{}.shape[{}]", path, i);
    if (const auto checked = CheckFields(point, at, {"utilization", "score"}); !checked)
      return tl::make_unexpected(checked.error());
    const auto utilization = Field<int64_t>(point, at, "utilization", 0);
    const auto score = Field<int64_t>(point, at, "score", 0);
    if (!utilization) return tl::make_unexpected(utilization.error());
    if (!score) return tl::make_unexpected(score.error());
    if (*utilization < 0 || *utilization > 100) return Invalid(at + ".utilization: not in valid range [0, 100]");
    if (*score < 0 || *score > kMostShapeScore) return Invalid(at + ".score: not in valid range [0, 10]");
    if (!shape.empty() && shape.back().first >= *utilization)
      return Invalid(at + ".utilization: values must be sorted in increasing order");
    shape.emplace_back(*utilization, *score * (framework::kMaxNodeScore / kMostShapeScore));
  }
  return shape;
}

base::Status ReadStrategy(const json& strategy, FitArgs* args) {
  const std::string path = "NodeResourcesFitArgs.scoringStrategy";
  if (const auto checked = CheckFields(strategy, path, {"type", "resources", "requestedToCapacityRatio"}); !checked)
    return checked;
  const auto type = Field<std::string>(strategy, path, "type", {});
  if (!type) return tl::make_unexpected(type.error());
  if (*type == "LeastAllocated")
    args->strategy = FitArgs::Strategy::kLeastAllocated;
  else if (*type == "MostAllocated")
    args->strategy = FitArgs::Strategy::kMostAllocated;
  else if (*type == "RequestedToCapacityRatio")
    args->strategy = FitArgs::Strategy::kRequestedToCapacityRatio;
  else
    return Invalid(
        fmt::format("{}.type: unsupported value \"{}\": supported values: \"LeastAllocated\", \"MostAllocated\", "
                    "\"RequestedToCapacityRatio\"",
                    path, *type));
  auto resources = ReadResources(strategy, path);
  if (!resources) return tl::make_unexpected(resources.error());
  args->resources = *std::move(resources);
  const bool wants_shape = args->strategy == FitArgs::Strategy::kRequestedToCapacityRatio;
  const bool has_shape =
      strategy.contains("requestedToCapacityRatio") && !strategy["requestedToCapacityRatio"].is_null();
  if (wants_shape != has_shape)
    return Invalid(path + (wants_shape
                               ? ".requestedToCapacityRatio: must be specified when type is RequestedToCapacityRatio"
                               : ".requestedToCapacityRatio: must be nil when type is not RequestedToCapacityRatio"));
  if (!has_shape) return {};
  auto shape = ReadShape(strategy["requestedToCapacityRatio"], path + ".requestedToCapacityRatio");
  if (!shape) return tl::make_unexpected(shape.error());
  args->shape = *std::move(shape);
  return {};
}

}  // namespace

base::Result<FitArgs> FitArgs::Read(const json& object) {
  FitArgs args;
  const std::string path = "NodeResourcesFitArgs";
  if (const auto checked = CheckFields(object, path, {"ignoredResources", "ignoredResourceGroups", "scoringStrategy"});
      !checked)
    return tl::make_unexpected(checked.error());
  if (!object.is_object()) return args;
  auto resources = Field<std::vector<std::string>>(object, path, "ignoredResources", {});
  if (!resources) return tl::make_unexpected(resources.error());
  auto groups = Field<std::vector<std::string>>(object, path, "ignoredResourceGroups", {});
  if (!groups) return tl::make_unexpected(groups.error());
  for (const std::string& name : *resources)
    if (!IsQualifiedName(name))
      return Invalid(fmt::format("{}.ignoredResources: \"{}\" is not a resource name", path, name));
  for (const std::string& group : *groups) {
    if (group.find('/') != std::string::npos)
      return Invalid(
          fmt::format("{}.ignoredResourceGroups: \"{}\": resource group name can't contain '/'", path, group));
    if (!IsQualifiedName(group))
      return Invalid(fmt::format("{}.ignoredResourceGroups: \"{}\" is not a group name", path, group));
  }
  args.ignored_resources = *std::move(resources);
  args.ignored_groups = *std::move(groups);
  if (object.contains("scoringStrategy") && !object["scoringStrategy"].is_null())
    if (const auto read = ReadStrategy(object["scoringStrategy"], &args); !read)
      return tl::make_unexpected(read.error());
  return args;
}

}  // namespace tutti::plugins
