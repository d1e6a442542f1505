// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_binding.h"

#include <fmt/format.h>

#include "base/json.h"
#include "plugins/common/args.h"
#include "plugins/volume_binding/binding_state.h"

namespace tutti::plugins {
namespace {

constexpr int64_t kMostSeconds = 9'223'372'036;  // the most that a Go duration holds

}  // namespace

base::Result<std::shared_ptr<VolumeBinding>> VolumeBinding::Make(const base::Json& args) {
  const std::string path = "VolumeBindingArgs";
  if (const auto checked = CheckFields(args, path, {"bindTimeoutSeconds", "shape"}); !checked)
    return tl::make_unexpected(checked.error());
  const auto seconds = Field<int64_t>(args, path, "bindTimeoutSeconds", 600);
  if (!seconds) return tl::make_unexpected(seconds.error());
  if (*seconds < 0)
    return base::Invalid(path + ".bindTimeoutSeconds: invalid BindTimeoutSeconds, should not be a negative value");
  if (*seconds > kMostSeconds)
    return base::Invalid(fmt::format("{}.bindTimeoutSeconds: must not be more than {}", path, kMostSeconds));
  if (args.is_object() && args.contains("shape") && !args["shape"].empty())
    return base::Invalid(
        path + ".shape: unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring");
  return std::make_shared<VolumeBinding>(*seconds * 1000);
}

std::unique_ptr<framework::FilterState> VolumeBinding::PrepareFilter(const cluster::PodClass& pod_class,
                                                                     const cluster::Snapshot& snapshot) const {
  return pod_class.claims.empty() ? nullptr : std::make_unique<BindingState>(pod_class, snapshot);
}

}  // namespace tutti::plugins
