// SPDX-License-Identifier: Apache-2.0
// What no pod may say. Not all of Kubernetes' rules: those that a scheduler's user meets.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/objects/quantity_text.h"
#include "sim/store/strategy.h"
#include "sim/store/validation.h"

namespace tutti::sim {
namespace {

using Errors = std::vector<FieldError>;

void OneOf(const Json& holder, const char* field, const std::string& path, const std::vector<std::string>& allowed,
           Errors& errors) {
  const Json& value = Child(holder, field);
  if (value.is_null() || value == "") return;
  if (std::find(allowed.begin(), allowed.end(), StringOf(value)) == allowed.end()) {
    errors.push_back(UnsupportedField(path + "." + field, value, allowed));
  }
}

// --- Resources ---

bool IsPrefixed(const std::string& resource) { return resource.find('/') != std::string::npos; }

bool IsExtended(const std::string& resource) {
  return IsPrefixed(resource) && resource.find("kubernetes.io/") == std::string::npos;
}

bool IsHugePages(const std::string& resource) { return resource.starts_with("hugepages-"); }

void ValidateResourceName(const std::string& name, const std::string& at, Errors& errors) {
  if (!IsQualifiedName(name)) {
    errors.push_back(InvalidField(at, name, kLabelKeyText));
    return;
  }
  static const std::set<std::string> standard = {"cpu", "memory", "ephemeral-storage"};
  if (IsPrefixed(name) || IsHugePages(name) || standard.contains(name)) return;
  if (name != "pods" && name != "storage") {
    errors.push_back(InvalidField(at, name, "must be a standard resource type or fully qualified"));
  }
  errors.push_back(InvalidField(at, name, "must be a standard resource for containers"));
}

void ValidateResourceList(const Json& list, const std::string& path, Errors& errors) {
  for (const auto& [name, value] : MapOf(list).items()) {
    const std::string at = fmt::format("{}[{}]", path, name);
    ValidateResourceName(name, at, errors);
    const std::string text = CanonicalQuantity(value).value_or("0");
    if (text[0] == '-') {
      errors.push_back(InvalidField(at, text, "must be greater than or equal to 0"));
    } else if (IsExtended(name) && text.find_first_of("num") != std::string::npos) {
      errors.push_back(InvalidField(at, text, "must be an integer"));
    }
  }
}

void ValidateResources(const Json& resources, const std::string& path, Errors& errors) {
  const size_t before = errors.size();
  ValidateResourceList(Child(resources, "limits"), path + ".limits", errors);
  ValidateResourceList(Child(resources, "requests"), path + ".requests", errors);
  if (errors.size() > before) return;
  for (const auto& [name, value] : MapOf(Child(resources, "requests")).items()) {
    const Json& limit = Dig(resources, "limits", name);
    const bool exact = IsExtended(name) || IsHugePages(name);
    if (exact && limit.is_null()) {
      errors.push_back(RequiredField(path + ".limits", "Limit must be set for non overcommitable resources"));
    } else if (exact && limit != value) {
      errors.push_back(InvalidField(path + ".requests", value,
                                    fmt::format("must be equal to {} limit of {}", name, StringOf(limit))));
    } else if (limit.is_string() && CompareQuantities(StringOf(value), StringOf(limit)) > 0) {
      errors.push_back(
          InvalidField(path + ".requests", value,
                       fmt::format("must be less than or equal to {} limit of {}", name, StringOf(limit))));
    }
  }
}

// --- Containers, volumes ---

void ValidateLabelName(const Json& value, const std::string& path, Errors& errors) {
  const std::string& name = StringOf(value);
  if (name.empty()) {
    errors.push_back(RequiredField(path));
  } else if (name.size() > 63) {
    errors.push_back(InvalidField(path, name, "must be no more than 63 characters"));
  } else if (!IsDnsLabel(name)) {
    errors.push_back(InvalidField(path, name, kDnsLabelText));
  }
}

void ValidatePort(const Json& port, const std::string& path, Errors& errors) {
  for (const char* field : {"containerPort", "hostPort"}) {
    const int64_t number = IntOf(Child(port, field));
    const bool required = std::string_view(field) == "containerPort";
    if (number == 0 && required) {
      errors.push_back(RequiredField(path + "." + field));
    } else if (number < 0 || number > 65535) {
      errors.push_back(InvalidField(path + "." + field, number, "must be between 1 and 65535, inclusive"));
    }
  }
  OneOf(port, "protocol", path, {"SCTP", "TCP", "UDP"}, errors);
}

void ValidateContainer(const Json& container, const std::string& at, const std::set<std::string>& volumes,
                       Errors& errors) {
  if (DigString(container, "image").empty()) errors.push_back(RequiredField(at + ".image"));
  OneOf(container, "imagePullPolicy", at, {"Always", "IfNotPresent", "Never"}, errors);
  OneOf(container, "restartPolicy", at, {"Always", "Never", "OnFailure"}, errors);
  size_t i = 0;
  for (const Json& port : ArrayOf(Child(container, "ports")))
    ValidatePort(port, fmt::format("{}.ports[{}]", at, i++), errors);
  i = 0;
  for (const Json& variable : ArrayOf(Child(container, "env"))) {
    if (DigString(variable, "name").empty()) errors.push_back(RequiredField(fmt::format("{}.env[{}].name", at, i)));
    ++i;
  }
  i = 0;
  for (const Json& mount : ArrayOf(Child(container, "volumeMounts"))) {
    const std::string path = fmt::format("{}.volumeMounts[{}]", at, i++);
    const std::string& name = DigString(mount, "name");
    if (!volumes.contains(name)) errors.push_back(MissingField(path + ".name", name));
    if (DigString(mount, "mountPath").empty()) errors.push_back(RequiredField(path + ".mountPath"));
  }
  ValidateResources(Child(container, "resources"), at + ".resources", errors);
}

// Kubernetes looks at the main containers first, so a shared name is the init container's fault.
void ValidateContainers(const Json& spec, const std::string& path, const std::set<std::string>& volumes,
                        Errors& errors) {
  std::set<std::string> names;
  for (const char* list : {"containers", "initContainers"}) {
    const Json& containers = ArrayOf(Child(spec, list));
    for (size_t i = 0; i < containers.size(); ++i) {
      const std::string at = fmt::format("{}.{}[{}]", path, list, i);
      const std::string& name = DigString(containers[i], "name");
      ValidateLabelName(Child(containers[i], "name"), at + ".name", errors);
      if (!name.empty() && !names.insert(name).second) errors.push_back(DuplicateField(at + ".name", name));
      ValidateContainer(containers[i], at, volumes, errors);
    }
  }
}

std::set<std::string> ValidateVolumes(const Json& spec, const std::string& path, Errors& errors) {
  std::set<std::string> names;
  size_t i = 0;
  for (const Json& volume : ArrayOf(Child(spec, "volumes"))) {
    const std::string at = fmt::format("{}.volumes[{}].name", path, i++);
    const std::string& name = DigString(volume, "name");
    ValidateLabelName(Child(volume, "name"), at, errors);
    if (!names.insert(name).second) errors.push_back(DuplicateField(at, name));
  }
  return names;
}

// --- Placement ---

void ValidateTolerations(const Json& spec, const std::string& path, Errors& errors) {
  size_t i = 0;
  for (const Json& toleration : ArrayOf(Child(spec, "tolerations"))) {
    const std::string at = fmt::format("{}.tolerations[{}]", path, i++);
    const std::string& key = DigString(toleration, "key");
    const std::string& op = DigString(toleration, "operator");
    if (!key.empty() && !IsQualifiedName(key)) errors.push_back(InvalidField(at + ".key", key, kQualifiedNameText));
    if (key.empty() && op != "Exists") {
      errors.push_back(InvalidField(at + ".operator", op,
                                    "operator must be Exists when `key` is empty, which means \"match all values and "
                                    "all keys\""));
    }
    OneOf(toleration, "operator", at, {"Equal", "Exists"}, errors);
    const std::string& value = DigString(toleration, "value");
    if (op == "Exists" && !value.empty()) {
      errors.push_back(InvalidField(at + ".operator", value, "value must be empty when `operator` is 'Exists'"));
    }
    OneOf(toleration, "effect", at, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, errors);
  }
}

void ValidateNodeSelector(const Json& spec, const std::string& path, Errors& errors) {
  for (const auto& [key, value] : MapOf(Child(spec, "nodeSelector")).items()) {
    const std::string at = path + ".nodeSelector";
    if (!IsQualifiedName(key)) errors.push_back(InvalidField(at, key, kQualifiedNameText));
    if (!IsLabelValue(StringOf(value))) errors.push_back(InvalidField(at, value, kLabelValueText));
  }
  const Json& required = Dig(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
  if (!required.is_object()) return;
  const std::string at =
      path + ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const Json& terms = ArrayOf(Child(required, "nodeSelectorTerms"));
  if (terms.empty()) errors.push_back(RequiredField(at, "must have at least one node selector term"));
  static const std::set<std::string> operators = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  for (size_t i = 0; i < terms.size(); ++i) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
      const Json& expressions = ArrayOf(Child(terms[i], list));
      for (size_t k = 0; k < expressions.size(); ++k) {
        const std::string& op = DigString(expressions[k], "operator");
        if (operators.contains(op)) continue;
        errors.push_back(
            InvalidField(fmt::format("{}[{}].{}[{}].operator", at, i, list, k), op, "not a valid selector operator"));
      }
    }
  }
}

void ValidateSpreading(const Json& spec, const std::string& path, Errors& errors) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const Json& required = Dig(spec, "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution");
    size_t i = 0;
    for (const Json& term : ArrayOf(required)) {
      const std::string at =
          fmt::format("{}.affinity.{}.requiredDuringSchedulingIgnoredDuringExecution[{}].topologyKey", path, kind, i++);
      const std::string& key = DigString(term, "topologyKey");
      if (key.empty()) errors.push_back(RequiredField(at, "can not be empty"));
      if (!IsQualifiedName(key)) errors.push_back(InvalidField(at, key, kQualifiedNameText));
    }
  }
  size_t i = 0;
  for (const Json& constraint : ArrayOf(Child(spec, "topologySpreadConstraints"))) {
    const std::string at = fmt::format("{}.topologySpreadConstraints[{}]", path, i++);
    const Json& skew = Child(constraint, "maxSkew");
    if (IntOf(skew) <= 0) errors.push_back(InvalidField(at + ".maxSkew", IntOf(skew), "must be greater than zero"));
    if (DigString(constraint, "topologyKey").empty())
      errors.push_back(RequiredField(at + ".topologyKey", "can not be empty"));
    OneOf(constraint, "whenUnsatisfiable", at, {"DoNotSchedule", "ScheduleAnyway"}, errors);
  }
}

void ValidateGates(const Json& pod, Errors& errors) {
  std::set<std::string> names;
  const Json& gates = ArrayOf(Dig(pod, "spec", "schedulingGates"));
  for (size_t i = 0; i < gates.size(); ++i) {
    const std::string at = fmt::format("spec.schedulingGates[{}]", i);
    const std::string& name = DigString(gates[i], "name");
    if (!IsQualifiedName(name)) errors.push_back(InvalidField(at, name, kQualifiedNameText));
    if (!names.insert(name).second) errors.push_back(DuplicateField(at, name));
  }
  if (!gates.empty() && !DigString(pod, "spec", "nodeName").empty()) {
    errors.push_back(ForbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}

void ValidateGroup(const Json& spec, Errors& errors) {
  const Json& group = Child(spec, "schedulingGroup");
  if (!group.is_object()) return;
  const Json& name = Child(group, "podGroupName");
  if (name.is_null()) {
    errors.push_back(InvalidField("spec.schedulingGroup.podGroupName", nullptr, "must specify one of: `podGroupName`"));
  } else if (!IsDnsSubdomain(StringOf(name))) {
    errors.push_back(InvalidField("spec.schedulingGroup.podGroupName", name, kDnsSubdomainText));
  }
}

// --- Changes ---

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

bool Contains(const Json& list, const Json& item) { return std::find(list.begin(), list.end(), item) != list.end(); }

void ValidateChange(const Json& pod, const Json& current, Errors& errors) {
  const Json& gates = ArrayOf(Dig(pod, "spec", "schedulingGates"));
  const Json& had_gates = ArrayOf(Dig(current, "spec", "schedulingGates"));
  for (size_t i = 0; i < gates.size(); ++i) {
    if (Contains(had_gates, gates[i])) continue;
    errors.push_back(ForbiddenField(
        fmt::format("spec.schedulingGates[{}].name", i),
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'", DigString(gates[i], "name"))));
  }
  Json was = Frozen(current), is = Frozen(pod);
  if (!had_gates.empty()) {
    for (Json* spec : {&was, &is}) {
      spec->erase("nodeSelector");
      spec->erase("affinity");
    }
  }
  const Json& had_tolerations = ArrayOf(Dig(current, "spec", "tolerations"));
  const bool tolerates_all = std::all_of(had_tolerations.begin(), had_tolerations.end(), [&](const Json& each) {
    return Contains(ArrayOf(Dig(pod, "spec", "tolerations")), each);
  });
  if (was == is && tolerates_all) return;
  errors.push_back(ForbiddenField(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
      "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

}  // namespace

void ValidatePodSpec(const Json& spec, const std::string& path, Errors& errors) {
  const std::set<std::string> volumes = ValidateVolumes(spec, path, errors);
  if (ArrayOf(Child(spec, "containers")).empty()) errors.push_back(RequiredField(path + ".containers"));
  ValidateContainers(spec, path, volumes, errors);
  OneOf(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, errors);
  OneOf(spec, "dnsPolicy", path, {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, errors);
  ValidateResources(Child(spec, "resources"), path + ".resources", errors);
  ValidateResourceList(Child(spec, "overhead"), path + ".overhead", errors);
  const Json& deadline = Child(spec, "activeDeadlineSeconds");
  if (!deadline.is_null() && (IntOf(deadline) < 1 || IntOf(deadline) > INT32_MAX)) {
    errors.push_back(
        InvalidField(path + ".activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive"));
  }
  const std::string& node = DigString(spec, "nodeName");
  if (!node.empty() && !IsDnsSubdomain(node))
    errors.push_back(InvalidField(path + ".nodeName", node, kDnsSubdomainText));
  ValidateNodeSelector(spec, path, errors);
  ValidateSpreading(spec, path, errors);
  ValidateTolerations(spec, path, errors);
}

void ValidatePod(const Json& pod, const Json* current, Part part, Errors& errors) {
  const Json& spec = Child(pod, "spec");
  ValidatePodSpec(spec, "spec", errors);
  ValidateGroup(spec, errors);
  ValidateGates(pod, errors);
  if (current && part == Part::kResize)
    ValidateResize(pod, *current, errors);
  else if (current)
    ValidateChange(pod, *current, errors);
}

}  // namespace tutti::sim
