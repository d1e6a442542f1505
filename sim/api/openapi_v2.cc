// SPDX-License-Identifier: Apache-2.0
#include "sim/api/openapi_v2.h"

#include <fmt/format.h>

#include <initializer_list>

namespace tutti::sim {
namespace {

// A length-delimited field. Every field number used here is below 16, so the tag is one byte.
std::string Field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) out += static_cast<char>(length | 0x80);
  out += static_cast<char>(length);
  return out + bytes;
}

// Document{swagger 1, info 2, paths 8}, Info{title 1, version 2}, Paths{path 2}, NamedPathItem{name 1, value 2},
// PathItem{patch 8}, Operation{parameters 8, vendor_extension 13}, NamedAny{name 1, value 2}, Any{yaml 2},
// ParametersItem{parameter 1}, Parameter{non_body_parameter 2}, NonBodyParameter{query_parameter_sub_schema 3},
// QueryParameterSubSchema{in 2, name 4}.
std::string QueryParameter(const std::string& name) {
  return Field(8, Field(1, Field(2, Field(3, Field(2, "query") + Field(4, name)))));
}

std::string PatchPath(const std::string& path, const GroupVersion& gv, const std::string& kind) {
  const std::string gvk = fmt::format("group: \"{}\"\nkind: {}\nversion: {}\n", gv.group, kind, gv.version);
  const std::string operation = QueryParameter("dryRun") + QueryParameter("fieldManager") +
                                QueryParameter("fieldValidation") +
                                Field(13, Field(1, "x-kubernetes-group-version-kind") + Field(2, Field(2, gvk)));
  return Field(2, Field(1, path) + Field(2, Field(8, operation)));
}

}  // namespace

std::string OpenApiV2(const ResourceTable& resources) {
  std::string paths;
  for (const auto& [id, resource] : resources.All())
    for (const ApiVersion& version : resource.versions) {
      const std::string root =
          id.group.empty() ? "/api/" + version.name : fmt::format("/apis/{}/{}", id.group, version.name);
      const std::string scope = resource.namespaced ? "/namespaces/{namespace}" : "";
      paths +=
          PatchPath(fmt::format("{}{}/{}/{{name}}", root, scope, id.resource), {id.group, version.name}, resource.kind);
    }
  return Field(1, "2.0") + Field(2, Field(1, "Tutti's embedded cluster") + Field(2, "v1")) + Field(8, paths);
}

}  // namespace tutti::sim
