// SPDX-License-Identifier: Apache-2.0
#include "app/pod_resources.h"

#include <fmt/format.h>

namespace tutti::app {
namespace {

std::string_view UnitOf(std::string_view resource) {
  if (resource == model::kCpu) return "cores";
  const bool bytes = resource == model::kMemory || resource == model::kEphemeralStorage || resource == "storage" ||
                     resource.starts_with("hugepages-");
  if (bytes) return "bytes";
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

// Escapes `text` for the value of a label.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string PodResourcesText(const core::Scheduler::PodList& pods) {
  std::string text =
      "# HELP kube_pod_resource_request Resources that a pod asks for, as its node is judged by.\n"
      "# TYPE kube_pod_resource_request gauge\n";
  for (const auto& pod : pods) {
    if (pod->bound() && pod->done()) continue;
    const std::string of_pod =
        fmt::format("namespace=\"{}\",node=\"{}\",pod=\"{}\",priority=\"{}\"", Escaped(pod->meta.ns),
                    Escaped(pod->node_name), Escaped(pod->meta.name), pod->spec->priority);
    const std::string scheduler = Escaped(pod->spec->scheduler_name);
    for (const auto& [resource, amount] : pod->spec->requests) {
      if (amount == 0) continue;
      const std::string value =
          resource == model::kCpu ? fmt::format("{}", static_cast<double>(amount) / 1000) : fmt::format("{}", amount);
      text += fmt::format("kube_pod_resource_request{{{},resource=\"{}\",scheduler=\"{}\",unit=\"{}\"}} {}\n", of_pod,
                          Escaped(resource), scheduler, UnitOf(resource), value);
    }
  }
  return text;
}

}  // namespace tutti::app
