// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_start.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <optional>

#include "base/json_string.h"
#include "base/text.h"
#include "cluster/json_text.h"
#include "model/quantity.h"
#include "sim/kuberay/ray_names.h"
#include "sim/objects/quantity_text.h"

namespace tutti::sim::ray {
namespace {

// Kubernetes' name of an accelerator, and Ray's.
const std::map<std::string, std::string> kAccelerators = {{"aws.amazon.com/neuroncore", "neuron_cores"},
                                                          {"google.com/tpu", "TPU"}};

// In whole units, rounded up; nothing when absent or zero.
std::optional<int64_t> Units(const Json& list, const std::string& name) {
  const auto text = CanonicalQuantity(Child(list, name));
  if (!text) return std::nullopt;
  const auto parsed = model::ParseUnits(*text);
  if (!parsed || parsed->value == 0) return std::nullopt;
  return parsed->value;
}

void CompleteParams(StartParams& params) {
  params.try_emplace("metrics-export-port", std::to_string(kMetricsPort));
  params["block"] = "true";
  params.try_emplace("dashboard-agent-listen-port", std::to_string(kAgentPort));
}

bool IsDigits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

// "nvidia.com/gpu" and the like, and slices as in "nvidia.com/mig-2g.32gb".
bool IsGpu(const std::string& resource) {
  if (resource.ends_with("gpu")) return true;
  const size_t at = resource.rfind("nvidia.com/mig-");
  if (at == std::string::npos || !resource.ends_with("gb")) return false;
  const std::string slice = resource.substr(at + 15, resource.size() - at - 17);  // "2g.32"
  const size_t dot = slice.find("g.");
  return dot != std::string::npos && IsDigits(slice.substr(0, dot)) && IsDigits(slice.substr(dot + 2));
}

// The value of --resources without the quotes around it. Nothing: it is no JSON.
std::optional<Json> CustomResources(const StartParams& params) {
  const auto given = params.find("resources");
  if (given == params.end()) return Json::object();
  std::string text = given->second;
  const auto quote = [](char c) { return c == '\'' || c == '"' || c == '`' || c == ' '; };
  while (!text.empty() && quote(text.back())) text.pop_back();
  while (!text.empty() && quote(text.front())) text.erase(0, 1);
  Json parsed = cluster::ParseJson(text);
  if (!parsed.is_object()) return std::nullopt;
  return parsed;
}

void AddAccelerators(StartParams& params, const Json& limits) {
  if (limits.empty()) return;
  std::optional<Json> custom = CustomResources(params);
  if (!custom) return;
  bool has_custom = false;
  for (const auto& [resource, ray_name] : kAccelerators) has_custom = has_custom || custom->contains(ray_name);
  for (const auto& [resource, amount] : limits.items()) {
    const auto units = Units(limits, resource);
    if (!units) continue;
    if (IsGpu(resource)) params.try_emplace("num-gpus", std::to_string(*units));
    const auto accelerator = kAccelerators.find(resource);
    if (has_custom || accelerator == kAccelerators.end()) continue;
    has_custom = true;
    (*custom)[accelerator->second] = *units;
    for (auto& [name, value] : custom->items()) {
      if (value.is_number_float() && value == std::floor(value.get<double>())) value = value.get<int64_t>();
    }
    params["resources"] = fmt::format("'{}'", base::PrintJson(*custom));
  }
}

std::string Flags(const StartParams& params) {
  std::string flags;
  for (const auto& [option, argument] : params) {
    const std::string lower = base::LowerCase(argument);
    const bool is_switch =
        (lower == "true" || lower == "false") && option != "log-color" && option != "include-dashboard";
    if (!is_switch)
      flags += fmt::format(" --{}={} ", option, argument);
    else if (lower == "true")
      flags += fmt::format(" --{} ", option);
  }
  return flags;
}

}  // namespace

StartParams ReadStartParams(const Json& group) {
  StartParams params;
  for (const auto& [name, value] : Child(group, "rayStartParams").items()) params[name] = StringOf(value);
  return params;
}

void CompleteHeadParams(StartParams& params) {
  params.try_emplace("dashboard-host", "0.0.0.0");
  CompleteParams(params);
}

void CompleteWorkerParams(StartParams& params, const std::string& address, const std::string& port) {
  params.try_emplace("address", fmt::format("{}:{}", address, port));
  CompleteParams(params);
}

std::string StartCommand(const std::string& node_type, StartParams& params, const Json& resources) {
  const Json& limits = Child(resources, "limits");
  const Json& requests = Child(resources, "requests");
  const auto cpus = Units(limits, "cpu") ? Units(limits, "cpu") : Units(requests, "cpu");
  if (cpus) params.try_emplace("num-cpus", std::to_string(*cpus));
  if (const auto memory = Units(limits, "memory")) params.try_emplace("memory", std::to_string(*memory));
  AddAccelerators(params, limits);
  return fmt::format("{} {}", node_type == kHead ? "ray start --head" : "ray start", Flags(params));
}

}  // namespace tutti::sim::ray
