// SPDX-License-Identifier: Apache-2.0
#include "sim/validation.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/crd.h"
#include "sim/strategy.h"

namespace tutti::sim {
namespace {

constexpr const char* kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr const char* kQualifiedNameText =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
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
    if (!IsDnsLabel(name)) errors.push_back(InvalidField("metadata.name", name, kLabelText));
  } else if (!IsDnsSubdomain(name)) {
    errors.push_back(InvalidField("metadata.name", name, kSubdomainText));
  }
}

void ValidateLabels(const Json& labels, std::vector<FieldError>& errors) {
  for (const auto& [key, value] : labels.items()) {
    if (!IsQualifiedName(key)) errors.push_back(InvalidField("metadata.labels", key, kQualifiedNameText));
    if (!IsLabelValue(StringOf(value))) errors.push_back(InvalidField("metadata.labels", value, kLabelValueText));
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
    errors.push_back(InvalidField("spec.selector", Dig(object, "spec", "selector"),
                                  "empty selector is invalid for deployment"));
  } else if (!selector->MatchesLabels(Dig(object, "spec", "template", "metadata", "labels"))) {
    errors.push_back(InvalidField("spec.template.metadata.labels", Dig(object, "spec", "template", "metadata", "labels"),
                                  "`selector` does not match template `labels`"));
  }
}

void ValidateTemplate(const Json& object, std::vector<FieldError>& errors) {
  const Json& spec = Dig(object, "spec", "template", "spec");
  if (!spec.is_object()) {
    errors.push_back(RequiredField("spec.template.spec"));
  } else {
    ValidatePodSpec(spec, "spec.template.spec", errors);
  }
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
  const Json& policy = Dig(job, "spec", "template", "spec", "restartPolicy");
  if (policy == "Always") {
    errors.push_back(UnsupportedField("spec.template.spec.restartPolicy", policy, {"OnFailure", "Never"}));
  }
  KeepImmutable(job, current, {{"spec", "selector"}, {"spec", "completionMode"}}, errors);
  const bool mutable_template = current && BoolOf(Dig(*current, "spec", "suspend")) &&
                                Dig(*current, "status", "startTime").is_null();
  if (!mutable_template) KeepImmutable(job, current, {{"spec", "template"}}, errors);
}

void ValidateReplicas(const Json& object, const Json* current, std::vector<FieldError>& errors) {
  ValidateCount(object, "replicas", errors);
  ValidateSelector(object, errors);
  ValidateTemplate(object, errors);
  KeepImmutable(object, current, {{"spec", "selector"}}, errors);
}

void ValidateEvent(const Json& event, std::vector<FieldError>& errors) {
  const std::string& involved = DigString(event, "involvedObject", "namespace");
  const std::string& ns = NamespaceOf(event);
  if (involved.empty() ? ns != "default" : involved != ns) {
    errors.push_back(InvalidField("involvedObject.namespace", involved, "does not match event.namespace"));
  }
}

void ValidatePodGroup(const Json& group, const Json* current, std::vector<FieldError>& errors) {
  const Json& policy = Dig(group, "spec", "schedulingPolicy");
  const Json& gang = Child(policy, "gang");
  if (gang.is_null() == Child(policy, "basic").is_null()) {
    errors.push_back(InvalidField("spec.schedulingPolicy", policy, "must specify exactly one of: `basic`, `gang`"));
  }
  if (const Json& least = Child(gang, "minCount"); !gang.is_null() && IntOf(least) < 1) {
    errors.push_back(InvalidField("spec.schedulingPolicy.gang.minCount", least, "must be greater than 0"));
  }
  KeepImmutable(group, current, {{"spec", "schedulingPolicy"}}, errors);
}

void RequireMapOf(const Json& meta, const char* field, std::vector<FieldError>& errors) {
  const Json& map = Child(meta, field);
  const std::string path = std::string("metadata.") + field;
  if (!map.is_null() && !map.is_object()) errors.push_back(InvalidField(path, map, "must be a map of strings"));
  for (const auto& [key, value] : MapOf(map).items()) {
    if (!value.is_string()) errors.push_back(InvalidField(path + "." + key, value, "must be a string"));
  }
}

void RequireList(const Json& meta, const char* field, Json::value_t of, std::vector<FieldError>& errors) {
  const Json& list = Child(meta, field);
  const std::string path = std::string("metadata.") + field;
  if (!list.is_null() && !list.is_array()) errors.push_back(InvalidField(path, list, "must be a list"));
  for (const Json& each : ArrayOf(list)) {
    if (each.type() != of) errors.push_back(InvalidField(path, each, "has an element of the wrong type"));
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
  for (const char* field : {"spec", "status"}) {
    const Json& part = Child(object, field);
    if (!part.is_null() && !part.is_object()) errors.push_back(InvalidField(field, part, "must be an object"));
  }
  const Json& conditions = Dig(object, "status", "conditions");
  if (!conditions.is_null() && !conditions.is_array()) {
    errors.push_back(InvalidField("status.conditions", conditions, "must be a list"));
  }
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
  size_t i = 0;
  for (const Json& owner : ArrayOf(Child(meta, "ownerReferences"))) {
    const std::string path = fmt::format("metadata.ownerReferences[{}]", i++);
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (DigString(owner, field).empty()) errors.push_back(RequiredField(path + "." + field, "must not be empty"));
    }
  }
  if (!current || !IsTerminating(*current)) return;
  for (const Json& finalizer : ArrayOf(Child(meta, "finalizers"))) {
    if (!HasFinalizer(*current, StringOf(finalizer))) {
      errors.push_back(ForbiddenField("metadata.finalizers",
                                      "no new finalizers can be added if the object is being deleted, found new "
                                      "finalizers " + Json::array({finalizer}).dump()));
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
    ValidateEvent(object, errors);
  } else if (id == kPriorityClasses) {
    KeepImmutable(object, current, {{"value"}}, errors);
    if (!Child(object, "value").is_number_integer()) errors.push_back(RequiredField("value"));
  } else if (id == GroupResource{"scheduling.k8s.io", "podgroups"}) {
    ValidatePodGroup(object, current, errors);
  }
}

}  // namespace tutti::sim
