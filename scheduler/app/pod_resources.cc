// SPDX-License-Identifier: Apache-2.0
#include "app/pod_resources.h"

#include <fmt/format.h>

#include "observe/prometheus_text.h"

namespace tutti::app {

using observe::LabelValue;

namespace {

std::string_view UnitOf(std::string_view resource) {
  if (resource == model::kCpu) return "cores";
  const bool bytes = resource == model::kMemory || resource == model::kEphemeralStorage || resource == "storage" ||
                     resource.starts_with("hugepages-");
  if (bytes) return "bytes";
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

}  // namespace

std::string PodResourcesText(const core::Scheduler::PodList& pods) {
  std::string text =
      "# HELP kube_pod_resource_request Resources that a pod asks for, as its node is judged by.\n"
      "# TYPE kube_pod_resource_request gauge\n";
  for (const auto& pod : pods) {
    if (pod->bound() && pod->done()) continue;
    const std::string of_pod =
        fmt::format("namespace=\"{}\",node=\"{}\",pod=\"{}\",priority=\"{}\"", LabelValue(pod->meta.ns),
                    LabelValue(pod->node_name), LabelValue(pod->meta.name), pod->spec->priority);
    const std::string scheduler = LabelValue(pod->spec->scheduler_name);
    for (const auto& [resource, amount] : pod->spec->requests) {
      if (amount == 0) continue;
      const std::string value =
          resource == model::kCpu ? fmt::format("{}", static_cast<double>(amount) / 1000) : fmt::format("{}", amount);
      text += fmt::format("kube_pod_resource_request{{{},resource=\"{}\",scheduler=\"{}\",unit=\"{}\"}} {}\n", of_pod,
                          LabelValue(resource), scheduler, UnitOf(resource), value);
    }
  }
  return text;
}

}  // namespace tutti::app
