// SPDX-License-Identifier: Apache-2.0
// Pods: defaults, the admission plugins that touch them (priority, default tolerations),
// quality of service, and what may not be written.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "sim/quantity_text.h"
#include "sim/strategy.h"

namespace tutti::sim {
namespace {

constexpr const char* kContainerLists[] = {"initContainers", "containers"};

void SetDefault(Json& object, const char* field, Json value) {
  if (Child(object, field).is_null()) object[field] = std::move(value);
}

bool IsLatest(const std::string& image) {
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  if (image.find('@') != std::string::npos) return false;
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest";
}

void DefaultContainer(Json& container, bool host_network) {
  if (!container.is_object()) return;
  SetDefault(container, "imagePullPolicy", IsLatest(DigString(container, "image")) ? "Always" : "IfNotPresent");
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "resources", Json::object());
  Json& resources = container["resources"];
  if (resources.is_object()) {
    for (const char* list : {"limits", "requests"}) {
      if (resources.contains(list)) CanonicalizeResources(resources[list]);
    }
  }
  const auto ports = container.find("ports");
  if (ports == container.end() || !ports->is_array()) return;
  for (Json& port : *ports) {
    if (!port.is_object()) continue;
    SetDefault(port, "protocol", "TCP");
    if (host_network) SetDefault(port, "hostPort", Child(port, "containerPort"));
  }
}

// Only of pods, not of templates: what has a limit and no request requests its limit.
void DefaultRequests(Json& holder) {
  if (!holder.is_object()) return;
  const Json limits = Dig(holder, "resources", "limits");
  for (const auto& [name, value] : MapOf(limits).items()) {
    Json& requests = holder["resources"]["requests"];
    if (requests.is_null() || (requests.is_object() && !requests.contains(name))) requests[name] = value;
  }
}

void AddToleration(Json& spec, const char* key) {
  Json& tolerations = spec["tolerations"];
  if (!tolerations.is_array()) tolerations = Json::array();
  for (const Json& each : tolerations) {
    const std::string& effect = DigString(each, "effect");
    const std::string& its_key = DigString(each, "key");
    if ((its_key == key || its_key.empty()) && (effect == "NoExecute" || effect.empty())) return;
  }
  tolerations.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
}

Object GlobalDefaultPriority(const Store& store) {
  for (const Object& each : store.All(kPriorityClasses)) {
    if (BoolOf(Child(*each, "globalDefault"))) return each;
  }
  return nullptr;
}

ApiResult<void> ResolvePriority(const Store& store, Json& pod, bool restore) {
  Json& spec = pod["spec"];
  std::string name = DigString(spec, "priorityClassName");
  Object cls;
  if (name.empty()) {
    cls = GlobalDefaultPriority(store);
    if (cls) spec["priorityClassName"] = NameOf(*cls);
  } else if (!(cls = store.Find(kPriorityClasses, "", name))) {
    // A dump of pods alone still carries the number its cluster computed.
    if (restore && Child(spec, "priority").is_number_integer()) return {};
    return tl::make_unexpected(
        Forbidden(kPods, NameOf(pod), fmt::format("no PriorityClass with name {} was found", name)));
  }
  const int64_t priority = cls ? IntOf(Child(*cls, "value")) : 0;
  if (const Json& given = Child(spec, "priority"); !restore && given.is_number_integer() && given != priority) {
    return tl::make_unexpected(Forbidden(
        kPods, NameOf(pod),
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority admission "
                    "controller computed {} from the given PriorityClass name",
                    given.dump(), priority)));
  }
  if (!restore || !Child(spec, "priority").is_number_integer()) spec["priority"] = priority;
  const std::string& preemption = cls ? DigString(*cls, "preemptionPolicy") : "";
  SetDefault(spec, "preemptionPolicy", preemption.empty() ? "PreemptLowerPriority" : preemption);
  return {};
}

// As Kubernetes computes it from cpu and memory of all containers, or of the pod.
std::string QosClass(const Json& spec) {
  std::map<std::string, std::string> requests, limits;
  bool any = false, guaranteed = true;
  const auto count = [&](const Json& resources) {
    for (const char* name : {"cpu", "memory"}) {
      const std::string& request = DigString(resources, "requests", name);
      const std::string& limit = DigString(resources, "limits", name);
      const bool asks = !request.empty() && request != "0";
      const bool bounded = !limit.empty() && limit != "0";
      any = any || asks || bounded;
      guaranteed = guaranteed && bounded && (!asks || CompareQuantities(request, limit) == 0);
    }
  };
  if (const Json& of_pod = Child(spec, "resources"); of_pod.is_object() && !of_pod.empty()) {
    count(of_pod);
  } else {
    for (const char* list : kContainerLists) {
      for (const Json& container : ArrayOf(Child(spec, list))) count(Child(container, "resources"));
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

// --- Validation ---

bool IsExtended(const std::string& resource) {
  return resource.find('/') != std::string::npos && resource.find("kubernetes.io/") == std::string::npos;
}

void ValidateResourceList(const Json& list, const std::string& path, std::vector<FieldError>& errors) {
  for (const auto& [name, value] : MapOf(list).items()) {
    const std::string at = fmt::format("{}[{}]", path, name);
    const auto text = CanonicalQuantity(value);
    if (!text) {
      errors.push_back(InvalidField(at, value,
                                    "quantities must match the regular expression "
                                    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
    } else if ((*text)[0] == '-') {
      errors.push_back(InvalidField(at, *text, "must be greater than or equal to 0"));
    } else if (IsExtended(name) && text->find_first_of("num") != std::string::npos) {
      errors.push_back(InvalidField(at, *text, "must be an integer"));
    }
  }
}

void ValidateResources(const Json& resources, const std::string& path, std::vector<FieldError>& errors) {
  const size_t before = errors.size();
  ValidateResourceList(Child(resources, "limits"), path + ".limits", errors);
  ValidateResourceList(Child(resources, "requests"), path + ".requests", errors);
  if (errors.size() > before) return;
  for (const auto& [name, value] : MapOf(Child(resources, "requests")).items()) {
    const Json& limit = Dig(resources, "limits", name);
    if (IsExtended(name) && limit != value) {
      errors.push_back(limit.is_null()
                           ? RequiredField(path + ".limits", "Limit must be set for non overcommitable resources")
                           : InvalidField(path + ".requests", value, fmt::format("must be equal to {} limit of {}", name,
                                                                                 StringOf(limit))));
    } else if (limit.is_string() && CompareQuantities(StringOf(value), StringOf(limit)) > 0) {
      errors.push_back(InvalidField(path + ".requests", value,
                                    fmt::format("must be less than or equal to {} limit of {}", name, StringOf(limit))));
    }
  }
}

void ValidateContainers(const Json& spec, const char* list, const std::string& path, std::set<std::string>& names,
                        std::vector<FieldError>& errors) {
  const Json& containers = Child(spec, list);
  for (size_t i = 0; i < ArrayOf(containers).size(); ++i) {
    const Json& container = containers[i];
    const std::string at = fmt::format("{}.{}[{}]", path, list, i);
    const std::string& name = DigString(container, "name");
    if (name.empty()) {
      errors.push_back(RequiredField(at + ".name"));
    } else if (!names.insert(name).second) {
      errors.push_back({at + ".name", "FieldValueDuplicate", fmt::format("Duplicate value: \"{}\"", name)});
    }
    if (DigString(container, "image").empty()) errors.push_back(RequiredField(at + ".image"));
    ValidateResources(Child(container, "resources"), at + ".resources", errors);
  }
}

void OneOf(const Json& spec, const char* field, const std::string& path, const std::vector<std::string>& allowed,
           std::vector<FieldError>& errors) {
  const Json& value = Child(spec, field);
  if (std::find(allowed.begin(), allowed.end(), StringOf(value)) == allowed.end()) {
    errors.push_back(UnsupportedField(path + "." + field, value, allowed));
  }
}

// What is left of a spec when all that may change is taken out.
Json Frozen(const Json& pod) {
  Json spec = Child(pod, "spec");
  for (const char* list : kContainerLists) {
    if (!spec.contains(list)) continue;
    for (Json& container : spec[list]) container.erase("image");
  }
  for (const char* field : {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates",
                            "ephemeralContainers"}) {
    spec.erase(field);
  }
  return spec;
}

bool IsSubset(const Json& small, const Json& large) {
  return std::all_of(small.begin(), small.end(),
                     [&](const Json& each) { return std::find(large.begin(), large.end(), each) != large.end(); });
}

void ValidatePodChange(const Json& pod, const Json& current, std::vector<FieldError>& errors) {
  const Json& gates = ArrayOf(Dig(pod, "spec", "schedulingGates"));
  const Json& had_gates = ArrayOf(Dig(current, "spec", "schedulingGates"));
  if (!IsSubset(gates, had_gates)) {
    errors.push_back(ForbiddenField("spec.schedulingGates", "only deletion is allowed, but found new scheduling gates"));
  }
  Json was = Frozen(current), is = Frozen(pod);
  if (!had_gates.empty()) {
    for (Json* spec : {&was, &is}) spec->erase("nodeSelector"), spec->erase("affinity");
  }
  const bool tolerates_less =
      !IsSubset(ArrayOf(Dig(current, "spec", "tolerations")), ArrayOf(Dig(pod, "spec", "tolerations")));
  if (was == is && !tolerates_less) return;
  errors.push_back(ForbiddenField(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
      "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

}  // namespace

void DefaultPodSpec(Json& spec) {
  if (!spec.is_object()) return;
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  SetDefault(spec, "securityContext", Json::object());
  if (const Json& account = Child(spec, "serviceAccountName"); account.is_string()) spec["serviceAccount"] = account;
  const bool host_network = BoolOf(Child(spec, "hostNetwork"));
  for (const char* list : kContainerLists) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) DefaultContainer(container, host_network);
  }
  if (spec.contains("overhead")) CanonicalizeResources(spec["overhead"]);
}

void DefaultPod(Json& pod) {
  Json& spec = pod["spec"];
  if (!spec.is_object()) spec = Json::object();
  DefaultPodSpec(spec);
  SetDefault(spec, "enableServiceLinks", true);
  for (const char* list : kContainerLists) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) DefaultRequests(container);
  }
  if (Child(spec, "resources").is_object()) {
    for (const char* list : {"limits", "requests"}) {
      if (spec["resources"].contains(list)) CanonicalizeResources(spec["resources"][list]);
    }
    DefaultRequests(spec);
  }
  AddToleration(spec, "node.kubernetes.io/not-ready");
  AddToleration(spec, "node.kubernetes.io/unreachable");
}

ApiResult<void> PreparePod(const Store& store, Json& pod, bool keep_status) {
  DefaultPod(pod);
  const Json& spec = pod["spec"];
  if (auto resolved = ResolvePriority(store, pod, keep_status); !resolved) return resolved;
  Json& status = pod["status"];
  if (!keep_status || !status.is_object()) status = Json::object();
  SetDefault(status, "phase", "Pending");
  SetDefault(status, "qosClass", QosClass(spec));
  if (!Child(spec, "schedulingGates").empty() && ConditionOf(pod, "PodScheduled").is_null()) {
    SetCondition(pod, {"PodScheduled", "False", "SchedulingGated",
                       "Scheduling is blocked due to non-empty scheduling gates"},
                 store.now_ms());
  }
  return {};
}

void ValidatePodSpec(const Json& spec, const std::string& path, std::vector<FieldError>& errors) {
  if (ArrayOf(Child(spec, "containers")).empty()) errors.push_back(RequiredField(path + ".containers"));
  std::set<std::string> names;
  for (const char* list : kContainerLists) ValidateContainers(spec, list, path, names, errors);
  ValidateResources(Child(spec, "resources"), path + ".resources", errors);
  ValidateResourceList(Child(spec, "overhead"), path + ".overhead", errors);
  OneOf(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, errors);
  size_t i = 0;
  for (const Json& toleration : ArrayOf(Child(spec, "tolerations"))) {
    const std::string at = fmt::format("{}.tolerations[{}]", path, i++);
    if (DigString(toleration, "operator") == "Exists" && !DigString(toleration, "value").empty()) {
      errors.push_back(InvalidField(at + ".operator", toleration, "value must be empty when `operator` is 'Exists'"));
    }
    if (DigString(toleration, "key").empty() && DigString(toleration, "operator") != "Exists") {
      errors.push_back(InvalidField(at + ".operator", DigString(toleration, "operator"),
                                    "operator must be Exists when `key` is empty, which means \"match all values and "
                                    "all keys\""));
    }
  }
}

void ValidatePod(const Json& pod, const Json* current, std::vector<FieldError>& errors) {
  ValidatePodSpec(Child(pod, "spec"), "spec", errors);
  if (current) ValidatePodChange(pod, *current, errors);
}

}  // namespace tutti::sim
