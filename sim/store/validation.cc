// SPDX-License-Identifier: Apache-2.0
#include "sim/store/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/json_string.h"
#include "sim/schema/crd.h"
#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

constexpr const char* kImmutable = "field is immutable";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphaNumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

bool IsWord(std::string_view text) {
  return !text.empty() && IsAlphaNumeric(text.front()) && IsAlphaNumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphaNumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsRbac(const ApiResource& resource) { return resource.id.group == "rbac.authorization.k8s.io"; }

bool NamesAreLabels(const ApiResource& resource) { return resource.id == kNamespaces || resource.id == kServices; }

void ValidateName(const ApiResource& resource, const std::string& name, std::vector<FieldError>& errors) {
  if (IsRbac(resource)) {
    if (name.find_first_of("/%") != std::string::npos || name == "." || name == "..") {
      errors.push_back(InvalidField("metadata.name", name, "may not contain '/' or '%'"));
    }
  } else if (NamesAreLabels(resource)) {
    if (!IsDnsLabel(name)) errors.push_back(InvalidField("metadata.name", name, kDnsLabelText));
  } else if (name.size() > 253) {
    errors.push_back(InvalidField("metadata.name", name, "must be no more than 253 characters"));
  } else if (!IsDnsSubdomain(name)) {
    errors.push_back(InvalidField("metadata.name", name, kDnsSubdomainText));
  }
}

void ValidateLabels(const Json& labels, std::vector<FieldError>& errors) {
  for (const auto& [key, value] : labels.items()) {
    if (!IsQualifiedName(key)) errors.push_back(InvalidField("metadata.labels", key, kQualifiedNameText));
    if (!IsLabelValue(StringOf(value))) errors.push_back(InvalidField("metadata.labels", value, kLabelValueText));
  }
}

void ValidateFinalizers(const Json& finalizers, std::vector<FieldError>& errors) {
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const std::string& name = StringOf(finalizers[i]);
    const bool standard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    const std::string at = fmt::format("metadata.finalizers[{}]", i);
    if (!IsQualifiedName(name)) {
      errors.push_back(InvalidField(at, name, kQualifiedNameText));
    } else if (!standard && name.find('/') == std::string::npos && name.find('.') == std::string::npos) {
      errors.push_back(InvalidField(at, name, "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
}

void KeepImmutable(const Json& object, const Json* current, const std::vector<std::vector<const char*>>& paths,
                   std::vector<FieldError>& errors) {
  if (!current) return;
  for (const auto& path : paths) {
    const Json* is = &object;
    const Json* was = current;
    std::string text;
    for (const char* key : path) {
      is = &Child(*is, key);
      was = &Child(*was, key);
      text += (text.empty() ? "" : ".") + std::string(key);
    }
    if (*is != *was) errors.push_back(InvalidField(text, *is, kImmutable));
  }
}

void ValidateSelector(const Json& object, std::vector<FieldError>& errors) {
  const auto selector = LabelSelector::FromJson(Dig(object, "spec", "selector"));
  if (!selector) {
    errors.push_back(InvalidField("spec.selector", Dig(object, "spec", "selector"), selector.error().message));
  } else if (selector->empty()) {
    errors.push_back(
        InvalidField("spec.selector", Dig(object, "spec", "selector"), "empty selector is invalid for deployment"));
  } else if (!selector->MatchesLabels(Dig(object, "spec", "template", "metadata", "labels"))) {
    errors.push_back(InvalidField("spec.template.metadata.labels",
                                  Dig(object, "spec", "template", "metadata", "labels"),
                                  "`selector` does not match template `labels`"));
  }
}

void ValidateTemplate(const Json& object, std::vector<FieldError>& errors) {
  ValidatePodSpec(Dig(object, "spec", "template", "spec"), "spec.template.spec", errors);
}

void ValidateCount(const Json& object, const char* field, std::vector<FieldError>& errors) {
  const Json& value = Dig(object, "spec", field);
  if (!value.is_null() && (!value.is_number_integer() || IntOf(value) < 0)) {
    errors.push_back(InvalidField(std::string("spec.") + field, value, "must be greater than or equal to 0"));
  }
}

void ValidateJob(const Json& job, const Json* current, std::vector<FieldError>& errors) {
  ValidateTemplate(job, errors);
  for (const char* field : {"parallelism", "completions", "backoffLimit"}) ValidateCount(job, field, errors);
  const std::string& policy = DigString(job, "spec", "template", "spec", "restartPolicy");
  if (policy == "Always" || policy.empty()) {
    errors.push_back(RequiredField("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  }
  KeepImmutable(job, current, {{"spec", "selector"}, {"spec", "completionMode"}}, errors);
  // An elastic indexed Job changes both of its numbers together.
  const bool elastic = DigString(job, "spec", "completionMode") == "Indexed" &&
                       Dig(job, "spec", "completions") == Dig(job, "spec", "parallelism");
  if (!elastic) KeepImmutable(job, current, {{"spec", "completions"}}, errors);
  const bool mutable_template =
      current && BoolOf(Dig(*current, "spec", "suspend")) && Dig(*current, "status", "startTime").is_null();
  if (!mutable_template) KeepImmutable(job, current, {{"spec", "template"}}, errors);
}

void ValidateReplicas(const Json& object, const Json* current, std::vector<FieldError>& errors) {
  ValidateCount(object, "replicas", errors);
  ValidateSelector(object, errors);
  ValidateTemplate(object, errors);
  KeepImmutable(object, current, {{"spec", "selector"}}, errors);
}

// One with an eventTime is of the new API, whose rules are its own.
void ValidateEvent(const Json& event, const Json* current, std::vector<FieldError>& errors) {
  const std::string& involved = DigString(event, "involvedObject", "namespace");
  const std::string& ns = NamespaceOf(event);
  if (Child(event, "eventTime").is_null()) {
    if (involved.empty() ? ns != "default" : involved != ns) {
      errors.push_back(InvalidField("involvedObject.namespace", involved, "does not match event.namespace"));
    }
    return;
  }
  for (const auto& [field, shown] : {std::pair{"reportingComponent", "reportingController"},
                                     {"reportingInstance", nullptr},
                                     {"action", nullptr},
                                     {"reason", nullptr}}) {
    if (DigString(event, field).empty()) errors.push_back(RequiredField(shown ? shown : field));
  }
  const std::string& type = DigString(event, "type");
  if (type != "Normal" && type != "Warning") {
    errors.push_back(InvalidField("type", "", fmt::format("has invalid value: {}", type)));
  }
  if (DigString(event, "message").size() > 1024) {
    errors.push_back(InvalidField("message", "", "can have at most 1024 characters"));
  }
  if (const Json& series = Child(event, "series"); series.is_object()) {
    if (IntOf(Child(series, "count")) < 2) errors.push_back(InvalidField("series.count", "", "should be at least 2"));
    if (Child(series, "lastObservedTime").is_null()) errors.push_back(RequiredField("series.lastObservedTime"));
  }
  KeepImmutable(event, current, {{"involvedObject"}, {"reason"}, {"message"}, {"action"}, {"type"}, {"eventTime"}},
                errors);
}

void ValidatePriorityClass(const Json& cls, const Json* current, std::vector<FieldError>& errors) {
  constexpr int64_t kHighestOfUsers = 1'000'000'000;
  static const std::map<std::string, int64_t> of_system = {{"system-cluster-critical", 2'000'000'000},
                                                           {"system-node-critical", 2'000'001'000}};
  const std::string& name = NameOf(cls);
  const Json& value = Child(cls, "value");
  const auto known = of_system.find(name);
  const bool is_system = known != of_system.end() && value == known->second;
  if (name.starts_with("system-") && !is_system) {
    errors.push_back(ForbiddenField(
        "metadata.name", fmt::format("priority class names with 'system-' prefix are reserved for system use only. "
                                     "error: {} is not a known system priority class",
                                     name)));
  }
  if (!is_system && IntOf(value) > kHighestOfUsers) {
    errors.push_back(ForbiddenField(
        "value", fmt::format("maximum allowed value of a user defined priority is {}", kHighestOfUsers)));
  }
  if (current && value != Child(*current, "value")) {
    errors.push_back(ForbiddenField("value", "may not be changed in an update."));
  }
}

void ValidateLease(const Json& lease, std::vector<FieldError>& errors) {
  const Json& duration = Dig(lease, "spec", "leaseDurationSeconds");
  if (!duration.is_null() && IntOf(duration) <= 0) {
    errors.push_back(InvalidField("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
}

void ValidateNode(const Json& node, std::vector<FieldError>& errors) {
  const std::vector<std::string> effects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  for (const Json& taint : ArrayOf(Dig(node, "spec", "taints"))) {
    const std::string& effect = DigString(taint, "effect");
    if (std::find(effects.begin(), effects.end(), effect) == effects.end()) {
      errors.push_back(UnsupportedField("metadata.taints[0].effect", effect, effects));
    }
  }
}

void ValidatePodGroup(const Json& group, const Json* current, std::vector<FieldError>& errors) {
  const Json& policy = Dig(group, "spec", "schedulingPolicy");
  const bool gang = !Child(policy, "gang").is_null(), basic = !Child(policy, "basic").is_null();
  if (!gang && !basic) {
    errors.push_back(InvalidField("spec.schedulingPolicy", "", "must specify one of: `basic`, `gang`"));
  } else if (gang && basic) {
    errors.push_back(
        InvalidField("spec.schedulingPolicy", "{basic, gang}", "must specify exactly one of: `basic`, `gang`"));
  }
  const int64_t least = IntOf(Dig(policy, "gang", "minCount"));
  if (gang && least == 0) errors.push_back(RequiredField("spec.schedulingPolicy.gang.minCount"));
  if (gang && least < 0) {
    errors.push_back(InvalidField("spec.schedulingPolicy.gang.minCount", least, "must be greater than or equal to 1"));
  }
  if (const size_t keys = ArrayOf(Dig(group, "spec", "schedulingConstraints", "topology")).size(); keys > 1) {
    errors.push_back(TooManyField("spec.schedulingConstraints.topology", keys, 1));
  }
  KeepImmutable(group, current, {{"spec", "schedulingPolicy"}}, errors);
}

void RequireMapOf(const Json& meta, const char* field, std::vector<FieldError>& errors) {
  const Json& map = Child(meta, field);
  const auto refuse = [&](const std::string& below, const Json& value, const char* why) {
    errors.push_back(InvalidField(fmt::format("metadata.{}{}", field, below), value, why));
  };
  if (!map.is_null() && !map.is_object()) refuse("", map, "must be a map of strings");
  for (const auto& [key, value] : MapOf(map).items()) {
    if (!value.is_string()) refuse("." + key, value, "must be a string");
  }
}

void RequireList(const Json& meta, const char* field, Json::value_t of, std::vector<FieldError>& errors) {
  const Json& list = Child(meta, field);
  const auto refuse = [&](const Json& value, const char* why) {
    errors.push_back(InvalidField(fmt::format("metadata.{}", field), value, why));
  };
  if (!list.is_null() && !list.is_array()) refuse(list, "must be a list");
  for (const Json& each : ArrayOf(list)) {
    if (each.type() != of) refuse(each, "has an element of the wrong type");
  }
}

}  // namespace

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && text.size() <= 63 && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    const bool good = !part.empty() && IsLowerOrDigit(part.front()) && IsLowerOrDigit(part.back()) &&
                      std::all_of(part.begin(), part.end(), [](char c) { return IsLowerOrDigit(c) || c == '-'; });
    if (!good) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsLabelValue(std::string_view text) { return text.empty() || (text.size() <= 63 && IsWord(text)); }

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return text.size() <= 63 && IsWord(text);
  const std::string_view name = text.substr(slash + 1);
  return IsDnsSubdomain(text.substr(0, slash)) && name.size() <= 63 && IsWord(name);
}

std::vector<FieldError> ShapeErrors(const Json& object) {
  std::vector<FieldError> errors;
  const Json& meta = Child(object, "metadata");
  if (!meta.is_object()) return {RequiredField("metadata", "must be an object")};
  for (const char* field : {"labels", "annotations"}) RequireMapOf(meta, field, errors);
  RequireList(meta, "finalizers", Json::value_t::string, errors);
  RequireList(meta, "ownerReferences", Json::value_t::object, errors);
  return errors;
}

void ValidateMetadata(const ApiResource& resource, const Json& object, const Json* current,
                      std::vector<FieldError>& errors) {
  const Json& meta = Child(object, "metadata");
  if (!current) ValidateName(resource, NameOf(object), errors);
  ValidateLabels(MapOf(Child(meta, "labels")), errors);
  for (const auto& [key, _] : MapOf(Child(meta, "annotations")).items()) {
    if (!IsQualifiedName(key)) errors.push_back(InvalidField("metadata.annotations", key, kQualifiedNameText));
  }
  for (const Json& owner : ArrayOf(Child(meta, "ownerReferences"))) {
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (!DigString(owner, field).empty()) continue;
      const bool version = std::string_view(field) == "apiVersion";
      errors.push_back(InvalidField(std::string("metadata.ownerReferences.") + field, "",
                                    version ? "version must not be empty" : "must not be empty"));
    }
  }
  ValidateFinalizers(ArrayOf(Child(meta, "finalizers")), errors);
  if (!current || !IsTerminating(*current)) return;
  for (const Json& finalizer : ArrayOf(Child(meta, "finalizers"))) {
    if (!HasFinalizer(*current, StringOf(finalizer))) {
      errors.push_back(ForbiddenField("metadata.finalizers",
                                      "no new finalizers can be added if the object is being deleted, found new "
                                      "finalizers " +
                                          base::PrintJson(Json::array({finalizer}))));
    }
  }
}

void ValidateKind(const ApiResource& resource, const Json& object, const Json* current,
                  std::vector<FieldError>& errors) {
  const GroupResource& id = resource.id;
  if (id == kCustomResourceDefinitions) {
    ValidateDefinition(object, errors);
    KeepImmutable(object, current, {{"spec", "group"}, {"spec", "scope"}, {"spec", "names", "plural"}}, errors);
  } else if (id == kJobs) {
    ValidateJob(object, current, errors);
  } else if (id == kReplicaSets || id == GroupResource{"apps", "deployments"} ||
             id == GroupResource{"apps", "statefulsets"}) {
    ValidateReplicas(object, current, errors);
  } else if (id == kEvents || id.group == "events.k8s.io") {
    ValidateEvent(object, current, errors);
  } else if (id == kPriorityClasses) {
    ValidatePriorityClass(object, current, errors);
  } else if (id == kLeases) {
    ValidateLease(object, errors);
  } else if (id == kNodes) {
    ValidateNode(object, errors);
  } else if (id == GroupResource{"scheduling.k8s.io", "podgroups"}) {
    ValidatePodGroup(object, current, errors);
  }
}

}  // namespace tutti::sim
