// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/quantity.h"
#include "sim/kuberay/ray_names.h"
#include "sim/objects/quantity_text.h"

namespace tutti::sim::ray {
namespace {

int64_t Hosts(const Json& group) { return IntOf(Child(group, "numOfHosts")); }
bool IsSuspended(const Json& group) { return BoolOf(Child(group, "suspend")); }

int64_t SumOverGroups(const Json& spec, const char* field) {
  int64_t sum = 0;
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    if (IsSuspended(group)) continue;
    sum = model::SaturatingAdd(sum, model::SaturatingMul(IntOf(Child(group, field)), Hosts(group)));
  }
  return sum;
}

bool HasEnv(const Json& container, const char* name) {
  const Json& env = Child(container, "env");
  return std::any_of(env.begin(), env.end(), [&](const Json& each) { return DigString(each, "name") == name; });
}

bool IsDns1035Label(const std::string& name) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && alnum(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return alnum(c) || c == '-'; });
}

std::optional<std::string> RestartPolicyProblem(const Json& spec) {
  const auto unsuitable = [](const Json& pod_template) {
    const std::string& policy = DigString(pod_template, "spec", "restartPolicy");
    return !policy.empty() && policy != "Never";
  };
  if (unsuitable(Dig(spec, "headGroupSpec", "template"))) {
    return "restartPolicy for head Pod should be Never or unset when using autoscaler V2";
  }
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    if (unsuitable(Child(group, "template"))) {
      return fmt::format("restartPolicy for worker group {} should be Never or unset when using autoscaler V2",
                         DigString(group, "groupName"));
    }
  }
  return std::nullopt;
}

std::optional<std::string> FaultToleranceProblem(const Json& spec, const Json& annotations) {
  const Json& options = Child(spec, "gcsFaultToleranceOptions");
  const std::string& annotated = DigString(annotations, kFtAnnotation);
  const Json& head = FirstContainer(Dig(spec, "headGroupSpec", "template"));
  const Json& params = Dig(spec, "headGroupSpec", "rayStartParams");
  if (!annotated.empty() && !options.is_null()) {
    return "ray.io/ft-enabled annotation and GcsFaultToleranceOptions are both set. Please use only "
           "GcsFaultToleranceOptions to configure GCS fault tolerance";
  }
  const bool enabled = annotated == "true" || !options.is_null();
  if (!enabled && HasEnv(head, "RAY_REDIS_ADDRESS")) {
    return "RAY_REDIS_ADDRESS is set which implicitly enables GCS fault tolerance, but GcsFaultToleranceOptions is not "
           "set. Please set GcsFaultToleranceOptions to enable GCS fault tolerance";
  }
  if (!options.is_null()) {
    if (!DigString(params, "redis-password").empty()) {
      return "cannot set `redis-password` in rayStartParams when GcsFaultToleranceOptions is enabled - use "
             "GcsFaultToleranceOptions.RedisPassword instead";
    }
    if (HasEnv(head, "REDIS_PASSWORD")) {
      return "cannot set `REDIS_PASSWORD` env var in head Pod when GcsFaultToleranceOptions is enabled - use "
             "GcsFaultToleranceOptions.RedisPassword instead";
    }
    if (HasEnv(head, "RAY_REDIS_ADDRESS")) {
      return "cannot set `RAY_REDIS_ADDRESS` env var in head Pod when GcsFaultToleranceOptions is enabled - use "
             "GcsFaultToleranceOptions.RedisAddress instead";
    }
    if (!DigString(annotations, kStorageNamespaceAnnotation).empty()) {
      return "cannot set `ray.io/external-storage-namespace` annotation when GcsFaultToleranceOptions is enabled - use "
             "GcsFaultToleranceOptions.ExternalStorageNamespace instead";
    }
  }
  if (!DigString(params, "redis-username").empty() || HasEnv(head, "REDIS_USERNAME")) {
    return "cannot set redis username in rayStartParams or environment variables - use "
           "GcsFaultToleranceOptions.RedisUsername instead";
  }
  return std::nullopt;
}

}  // namespace

const Json& FirstContainer(const Json& pod_template) {
  const Json& containers = Dig(pod_template, "spec", "containers");
  static const Json kNone;
  return containers.is_array() && !containers.empty() ? containers[0] : kNone;
}

bool IsAutoscaled(const Json& spec) { return BoolOf(Child(spec, "enableInTreeAutoscaling")); }
bool IsAutoscalerV2(const Json& spec) { return DigString(spec, "autoscalerOptions", "version") == "v2"; }

bool HasFaultTolerance(const Json& cluster) {
  return base::LowerCase(AnnotationOf(cluster, kFtAnnotation)) == "true" ||
         !Dig(cluster, "spec", "gcsFaultToleranceOptions").is_null();
}

int64_t DesiredWorkers(const Json& group) {
  if (IsSuspended(group)) return 0;
  const int64_t low = IntOf(Child(group, "minReplicas"));
  const int64_t high = IntOf(Child(group, "maxReplicas"), INT32_MAX);
  const int64_t replicas = low > high ? high : std::clamp(IntOf(Child(group, "replicas"), low), low, high);
  return model::SaturatingMul(replicas, Hosts(group));
}

int64_t DesiredWorkersOfAll(const Json& spec) {
  int64_t sum = 0;
  for (const Json& group : Child(spec, "workerGroupSpecs")) sum = model::SaturatingAdd(sum, DesiredWorkers(group));
  return sum;
}

int64_t MinWorkersOfAll(const Json& spec) { return SumOverGroups(spec, "minReplicas"); }
int64_t MaxWorkersOfAll(const Json& spec) { return SumOverGroups(spec, "maxReplicas"); }

Json PodResources(const Json& pod_spec) {
  Json total = Json::object();
  for (const Json& container : Child(pod_spec, "containers")) {
    Json each = Dig(container, "resources", "requests");
    if (!each.is_object()) each = Json::object();
    for (const auto& [name, amount] : Dig(container, "resources", "limits").items()) {
      if (!each.contains(name)) each[name] = amount;
    }
    AddResources(total, each, 1);
  }
  return total;
}

void AddResources(Json& total, const Json& resources, int64_t times) {
  if (times <= 0) return;
  for (const auto& [name, amount] : resources.items()) {
    const auto text = CanonicalQuantity(amount);
    if (!text) continue;
    const std::string added = MultiplyQuantity(*text, times);
    total[name] = total.contains(name) ? AddQuantities(StringOf(total[name]), added) : added;
  }
}

Json DesiredResources(const Json& spec) {
  Json total = PodResources(Dig(spec, "headGroupSpec", "template", "spec"));
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    if (IsSuspended(group)) continue;
    AddResources(total, PodResources(Dig(group, "template", "spec")),
                 model::SaturatingMul(IntOf(Child(group, "replicas")), Hosts(group)));
  }
  return total;
}

Json MinResources(const Json& spec) {
  Json total = PodResources(Dig(spec, "headGroupSpec", "template", "spec"));
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    AddResources(total, PodResources(Dig(group, "template", "spec")),
                 model::SaturatingMul(IntOf(Child(group, "minReplicas")), Hosts(group)));
  }
  return total;
}

bool SameResources(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, amount] : a.items()) {
    const auto left = CanonicalQuantity(amount), right = CanonicalQuantity(Child(b, name));
    if (!left || !right || CompareQuantities(*left, *right) != 0) return false;
  }
  return true;
}

bool IsManagedElsewhere(const Json& object) {
  const std::string& manager = DigString(object, "spec", "managedBy");
  return !manager.empty() && manager != "ray.io/kuberay-operator";
}

std::optional<std::string> MetadataProblem(const Json& meta, const char* kind, size_t max_name_length) {
  const std::string& name = DigString(meta, "name");
  if (name.size() > max_name_length)
    return fmt::format("{} name should be no more than {} characters", kind, max_name_length);
  if (IsDns1035Label(name)) return std::nullopt;
  return fmt::format(
      "{} name should be a valid DNS1035 label: [a DNS-1035 label must consist of lower case alphanumeric characters "
      "or "
      "'-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
      "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')]",
      kind);
}

std::optional<std::string> SpecProblem(const Json& spec, const Json& annotations) {
  if (FirstContainer(Dig(spec, "headGroupSpec", "template")).is_null()) {
    return "headGroupSpec should have at least one container";
  }
  std::set<std::string> names;
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    if (FirstContainer(Child(group, "template")).is_null()) return "workerGroupSpec should have at least one container";
    // The operator's webhook refuses such; without it the operator makes and deletes pods without end.
    if (!names.insert(DigString(group, "groupName")).second) return "worker group names must be unique";
  }
  if (auto problem = FaultToleranceProblem(spec, annotations)) return problem;
  for (const Json& group : Child(spec, "workerGroupSpecs")) {
    if (!IsSuspended(group)) continue;
    return fmt::format("worker group {} can be suspended only when the RayJobDeletionPolicy feature gate is enabled",
                       DigString(group, "groupName"));
  }
  if (!IsAutoscaled(spec)) return std::nullopt;
  const Json& head = FirstContainer(Dig(spec, "headGroupSpec", "template"));
  if (!Dig(spec, "autoscalerOptions", "version").is_null() && HasEnv(head, "RAY_enable_autoscaler_v2")) {
    return "both .spec.autoscalerOptions.version and head Pod env var RAY_enable_autoscaler_v2 are set, please only "
           "use "
           "the former";
  }
  return IsAutoscalerV2(spec) ? RestartPolicyProblem(spec) : std::nullopt;
}

}  // namespace tutti::sim::ray
