// SPDX-License-Identifier: Apache-2.0
#include "sim/api/openapi.h"

#include <fmt/format.h>

#include "sim/api/discovery.h"
#include "sim/api/openapi_v2.h"
#include "sim/schema/builtin_schema.h"
#include "sim/schema/schema.h"

namespace tutti::sim {
namespace {

std::string PathOf(const GroupVersion& gv) {
  return gv.group.empty() ? "api/" + gv.version : fmt::format("apis/{}/{}", gv.group, gv.version);
}

// The list of documents. The hash makes clients fetch again when a definition has changed.
Json Index(const ResourceTable& resources) {
  Json paths = Json::object();
  for (const GroupVersion& gv : ServedGroupVersions(resources)) {
    const std::string path = PathOf(gv);
    paths[path] = {{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", path, resources.revision())}};
  }
  return {{"paths", std::move(paths)}};
}

Json Parameter(const char* name) { return {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}}; }

Json Operation(const char* action, const Json& gvk) {
  Json operation = {{"x-kubernetes-action", action},
                    {"x-kubernetes-group-version-kind", gvk},
                    {"responses", {{"200", {{"description", "OK"}}}}}};
  const std::string_view verb = action;
  if (verb == "post" || verb == "put" || verb == "patch") {
    operation["parameters"] = {Parameter("dryRun"), Parameter("fieldManager"), Parameter("fieldValidation")};
  }
  return operation;
}

// A strategic merge patch is not announced: kubectl would take the merge keys from this
// document, which has none, instead of those it knows.
Json PatchOperation(const Json& gvk) {
  Json operation = Operation("patch", gvk);
  for (const char* type :
       {"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"}) {
    operation["requestBody"]["content"][type] = {{"schema", {{"type", "object"}}}};
  }
  return operation;
}

void AddPaths(const ApiResource& resource, const GroupVersion& gv, const Json& gvk, Json& paths) {
  const std::string scope = resource.namespaced ? "/namespaces/{namespace}" : "";
  const std::string collection = fmt::format("/{}{}/{}", PathOf(gv), scope, resource.id.resource);
  paths[collection] = {{"get", Operation("list", gvk)}, {"post", Operation("post", gvk)}};
  paths[collection + "/{name}"] = {{"get", Operation("get", gvk)},
                                   {"put", Operation("put", gvk)},
                                   {"patch", PatchOperation(gvk)},
                                   {"delete", Operation("delete", gvk)}};
  if (resource.namespaced) {
    paths[fmt::format("/{}/{}", PathOf(gv), resource.id.resource)] = {{"get", Operation("list", gvk)}};
  }
}

// The built-in types that a custom resource's schema refers to.
void AddReferred(const Json& schema, Json& schemas) {
  const std::string& reference = DigString(schema, "$ref");
  if (!reference.empty()) AddBuiltinSchemas(reference.substr(reference.rfind('/') + 1), schemas);
  for (const Json& each : schema) {
    if (each.is_structured()) AddReferred(each, schemas);
  }
}

// A custom resource's schema with what every object has.
Json CustomSchema(const ApiVersion& version, Json& schemas) {
  Json schema = version.schema ? version.schema->json() : Json{{"type", "object"}};
  AddBuiltinSchemas("ObjectMeta", schemas);
  AddReferred(schema, schemas);
  schema["properties"]["apiVersion"] = {{"type", "string"}, {"description", DescriptionOf("", "apiVersion")}};
  schema["properties"]["kind"] = {{"type", "string"}, {"description", DescriptionOf("", "kind")}};
  schema["properties"]["metadata"] = {{"allOf", {{{"$ref", "#/components/schemas/ObjectMeta"}}}},
                                      {"description", DescriptionOf("", "metadata")}};
  return schema;
}

std::string AddSchema(const ApiResource& resource, const ApiVersion& version, Json& schemas) {
  std::string name = BuiltinTypeName(resource);
  if (!name.empty()) {
    AddBuiltinSchemas(name, schemas);
    return name;
  }
  name = fmt::format("{}.{}.{}", resource.id.group, version.name, resource.kind);
  schemas[name] = CustomSchema(version, schemas);
  return name;
}

Json Document(const ResourceTable& resources, const GroupVersion& gv) {
  Json paths = Json::object();
  Json schemas = Json::object();
  for (const auto& [id, resource] : resources.All()) {
    const ApiVersion* version = id.group == gv.group ? resource.FindVersion(gv.version) : nullptr;
    if (!version || !version->served) continue;
    const Json gvk = {{"group", gv.group}, {"version", gv.version}, {"kind", resource.kind}};
    AddPaths(resource, gv, gvk, paths);
    schemas[AddSchema(resource, *version, schemas)]["x-kubernetes-group-version-kind"] = Json::array({gvk});
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Tutti's embedded cluster"}, {"version", "v1"}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

}  // namespace

std::optional<HttpResponse> AnswerOpenApi(const ResourceTable& resources, const HttpRequest& request) {
  const std::string& path = request.path;
  if (path == "/openapi/v2") {
    if (request.accept.find("protobuf") != std::string::npos)
      return HttpResponse{.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                          .body = OpenApiV2(resources)};
    return JsonResponse({{"swagger", "2.0"},
                         {"info", {{"title", "Tutti's embedded cluster"}, {"version", "v1"}}},
                         {"paths", Json::object()},
                         {"definitions", Json::object()}});
  }
  if (path == "/openapi/v3" || path == "/openapi/v3/") return JsonResponse(Index(resources));
  if (!path.starts_with("/openapi/v3/")) return std::nullopt;
  for (const GroupVersion& gv : ServedGroupVersions(resources)) {
    if (path == "/openapi/v3/" + PathOf(gv)) return JsonResponse(Document(resources, gv));
  }
  return ErrorResponse(PathNotFound());
}

}  // namespace tutti::sim
