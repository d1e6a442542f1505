// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_names.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "sim/kuberay/ray_options.h"

namespace tutti::sim {

base::Result<BatchScheduler> ParseBatchScheduler(std::string_view name, KubeRayRelease release) {
  if (name.empty()) return BatchScheduler::kNone;
  if (name == "volcano") return BatchScheduler::kVolcano;
  if (name == "scheduler-plugins") return BatchScheduler::kSchedulerPlugins;
  if (name == "yunikorn") return BatchScheduler::kYunikorn;
  if (name == "kai-scheduler" && release != KubeRayRelease::k1_4) return BatchScheduler::kKai;
  return base::Invalid(
      fmt::format("the KubeRay operator has no batch scheduler \"{}\"; give volcano, scheduler-plugins or yunikorn{}",
                  name, release == KubeRayRelease::k1_4 ? "" : " or kai-scheduler"));
}

namespace ray {
namespace {

constexpr size_t kMaxNameLength = 50;
constexpr size_t kMaxLabelLength = 63;

std::string LastOf(const std::string& text, size_t length) {
  return text.size() > length ? text.substr(text.size() - length) : text;
}

bool IsPunctuation(char c) { return std::ispunct(static_cast<unsigned char>(c)); }

// At most 63 of its last characters, and no punctuation in front.
std::string ClipLabel(std::string value) {
  value = LastOf(value, kMaxLabelLength);
  if (IsPunctuation(value[0])) value[0] = 'r';
  return value;
}

}  // namespace

std::string PodNamePrefix(const std::string& prefix, const std::string& node_type) {
  return base::LowerCase(fmt::format("{}-{}-", base::Cut(prefix, kMaxNameLength), node_type));
}

std::string ClipName(std::string name) {
  name = LastOf(name, kMaxNameLength);
  if (std::isdigit(static_cast<unsigned char>(name[0])) || IsPunctuation(name[0])) name[0] = 'r';
  return name;
}

std::string HeadIdentifier(const std::string& cluster, const std::string& node_type) {
  return ClipLabel(fmt::format("{}-{}", cluster, node_type));
}

std::string HeadServiceName(const Json& cluster) {
  const std::string& given = DigString(cluster, "spec", "headGroupSpec", "headService", "metadata", "name");
  return given.empty() ? NameOf(cluster) + "-head-svc" : given;
}

std::string HeadAddress(const Json& cluster) {
  return fmt::format("{}.{}.svc.cluster.local", HeadServiceName(cluster), NamespaceOf(cluster));
}

std::string ServeServiceName(const std::string& cluster) { return cluster + "-serve-svc"; }

std::string GoJson(const std::string& json) {
  std::string escaped;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      escaped += fmt::format("\\u{:04x}", int(c));
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace ray
}  // namespace tutti::sim
