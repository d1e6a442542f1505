// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/crd.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/text.h"
#include "sim/schema/schema.h"

namespace tutti::sim {
namespace {

std::vector<std::string> StringsOf(const Json& list) {
  std::vector<std::string> strings;
  for (const Json& each : ArrayOf(list)) strings.push_back(StringOf(each));
  return strings;
}

std::shared_ptr<const ScalePaths> ScaleOf(const Json& subresources) {
  const Json& scale = Child(subresources, "scale");
  if (!scale.is_object()) return nullptr;
  const auto path = [&](const char* field) {
    const std::string& text = DigString(scale, field);
    return text.empty() ? text : text.substr(1);  // ".spec.replicas"
  };
  return std::make_shared<ScalePaths>(
      ScalePaths{path("specReplicasPath"), path("statusReplicasPath"), path("labelSelectorPath")});
}

ApiVersion VersionOf(const Json& json) {
  ApiVersion version;
  version.name = DigString(json, "name");
  version.served = BoolOf(Child(json, "served"));
  version.has_status = !Dig(json, "subresources", "status").is_null();
  version.scale = ScaleOf(Child(json, "subresources"));
  const Json& schema = Dig(json, "schema", "openAPIV3Schema");
  if (schema.is_object()) version.schema = std::make_shared<const Schema>(schema);
  for (const Json& column : ArrayOf(Child(json, "additionalPrinterColumns"))) {
    version.columns.push_back({DigString(column, "name"), DigString(column, "type"), DigString(column, "jsonPath"),
                               DigString(column, "description"), DigString(column, "format"),
                               int(IntOf(Child(column, "priority")))});
  }
  return version;
}

auto Preference(const std::string& version) {
  int major = 0, minor = 0, stability = 0;
  const char* at = version.data();
  const char* end = at + version.size();
  if (at != end && *at == 'v') {
    const auto parsed = std::from_chars(at + 1, end, major);
    const std::string_view rest(parsed.ptr, size_t(end - parsed.ptr));
    const size_t letters = rest.starts_with("alpha") ? 5 : rest.starts_with("beta") ? 4 : 0;
    if (parsed.ec == std::errc() && rest.empty()) stability = 3;
    if (letters > 0) {
      stability = letters == 4 ? 2 : 1;
      std::from_chars(rest.data() + letters, end, minor);
    }
  }
  return std::make_tuple(-stability, -major, -minor);
}

}  // namespace

bool PrefersVersion(const std::string& a, const std::string& b) { return Preference(a) < Preference(b); }

ApiResource ResourceOfDefinition(const Json& definition) {
  const Json& spec = Child(definition, "spec");
  const Json& names = Child(spec, "names");
  ApiResource resource;
  resource.id = {DigString(spec, "group"), DigString(names, "plural")};
  resource.stored_as = resource.id;
  resource.kind = DigString(names, "kind");
  resource.singular = DigString(names, "singular");
  resource.short_names = StringsOf(Child(names, "shortNames"));
  resource.categories = StringsOf(Child(names, "categories"));
  resource.namespaced = DigString(spec, "scope") == "Namespaced";
  resource.custom = true;
  resource.tracks_generation = true;
  for (const Json& json : ArrayOf(Child(spec, "versions"))) {
    resource.versions.push_back(VersionOf(json));
    if (BoolOf(Child(json, "storage"))) resource.storage_version = resource.versions.back().name;
  }
  std::stable_sort(resource.versions.begin(), resource.versions.end(),
                   [](const ApiVersion& a, const ApiVersion& b) { return PrefersVersion(a.name, b.name); });
  return resource;
}

void PrepareDefinition(Json& definition, base::Millis now_ms) {
  Json& status = ObjectAt(definition, "status");
  Json& spec = definition["spec"];
  if (!spec.is_object()) return;
  SetDefault(spec, "conversion", {{"strategy", "None"}});
  Json& names = spec["names"];
  const std::string kind = DigString(names, "kind");
  if (DigString(names, "singular").empty()) names["singular"] = base::LowerCase(kind);
  if (DigString(names, "listKind").empty()) names["listKind"] = kind + "List";
  status["acceptedNames"] = names;
  Json stored = ArrayOf(Child(status, "storedVersions"));
  for (const Json& version : ArrayOf(Child(spec, "versions"))) {
    const Json& name = Child(version, "name");
    if (BoolOf(Child(version, "storage")) && std::find(stored.begin(), stored.end(), name) == stored.end()) {
      stored.push_back(name);
    }
  }
  status["storedVersions"] = std::move(stored);
  SetCondition(definition, {"NamesAccepted", "True", "NoConflicts", "no conflicts found"}, now_ms);
  SetCondition(definition, {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"},
               now_ms);
}

void ValidateDefinition(const Json& definition, std::vector<FieldError>& errors) {
  const Json& spec = Child(definition, "spec");
  const std::string& group = DigString(spec, "group");
  const std::string& plural = DigString(spec, "names", "plural");
  if (group.empty()) errors.push_back(RequiredField("spec.group"));
  if (plural.empty()) errors.push_back(RequiredField("spec.names.plural"));
  if (DigString(spec, "names", "kind").empty()) errors.push_back(RequiredField("spec.names.kind"));
  if (const std::string expected = plural + "." + group; NameOf(definition) != expected) {
    errors.push_back(InvalidField("metadata.name", NameOf(definition), "must be spec.names.plural+\".\"+spec.group"));
  }
  if (const std::string& scope = DigString(spec, "scope"); scope != "Namespaced" && scope != "Cluster") {
    errors.push_back(UnsupportedField("spec.scope", scope, {"Cluster", "Namespaced"}));
  }
  int storage = 0;
  size_t i = 0;
  for (const Json& version : ArrayOf(Child(spec, "versions"))) {
    const std::string path = fmt::format("spec.versions[{}]", i++);
    if (DigString(version, "name").empty()) errors.push_back(RequiredField(path + ".name"));
    storage += BoolOf(Child(version, "storage"));
    if (!Dig(version, "schema", "openAPIV3Schema").is_object()) {
      errors.push_back(RequiredField(path + ".schema.openAPIV3Schema", "schemas are required"));
    }
  }
  if (storage != 1) {
    errors.push_back(InvalidField("spec.versions", Child(spec, "versions"),
                                  "must have exactly one version marked as storage version"));
  }
}

}  // namespace tutti::sim
