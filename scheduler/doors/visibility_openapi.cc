// SPDX-License-Identifier: Apache-2.0
#include "doors/visibility_openapi.h"

#include <fmt/format.h>

#include <tuple>

#include "base/json.h"
#include "base/json_string.h"
#include "base/sha1.h"
#include "doors/visibility.h"

namespace tutti::doors {
namespace {

using base::Json;

Json Described(Json schema, const char* description) {
  schema["description"] = description;
  return schema;
}

Json Integer(const char* description) {
  return Described({{"type", "integer"}, {"format", "int32"}, {"default", 0}}, description);
}

Json Text(const char* description) { return Described({{"type", "string"}, {"default", ""}}, description); }

Json Reference(const std::string& schema) { return {{"$ref", "#/components/schemas/" + schema}}; }

Json Schemas(std::string_view version) {
  const Json meta = {{"type", "object"}};
  const Json item = {
      {"type", "object"},
      {"description", "A Workload that waits for quota."},
      {"required", {"priority", "localQueueName", "positionInClusterQueue", "positionInLocalQueue"}},
      {"properties",
       {{"metadata", Described(meta, "Of the Workload: its name, namespace and creationTimestamp.")},
        {"priority", Integer("Of the Workload.")},
        {"localQueueName", Text("The LocalQueue that it waits in.")},
        {"positionInClusterQueue", Integer("In the line of the ClusterQueue; the first has 0.")},
        {"positionInLocalQueue", Integer("Among those of its LocalQueue; the first has 0.")}}}};
  const Json kind = {{{"group", "visibility.kueue.x-k8s.io"}, {"version", version}, {"kind", Visibility::kSummary}}};
  const Json summary = {{"type", "object"},
                        {"description", "The Workloads that wait for quota, in the order of their line."},
                        {"required", {"items"}},
                        {"x-kubernetes-group-version-kind", kind},
                        {"properties",
                         {{"apiVersion", {{"type", "string"}}},
                          {"kind", {{"type", "string"}}},
                          {"metadata", meta},
                          {"items", {{"type", "array"}, {"items", Reference("PendingWorkload")}}}}}};
  return {{"PendingWorkload", item}, {Visibility::kSummary, summary}};
}

Json Parameter(const char* name, const char* in, Json schema, const char* description) {
  return Described({{"name", name}, {"in", in}, {"required", std::string_view(in) == "path"}, {"schema", schema}},
                   description);
}

Json Operation(bool namespaced) {
  const Json text = {{"type", "string"}}, number = {{"type", "integer"}};
  Json parameters = {
      Parameter("name", "path", text, "Of the queue."),
      Parameter("offset", "query", number, "So many of the first are left out."),
      Parameter("limit", "query", number, "So many are told at most; 1,000 if it is not given, and never more than 4,000.")};
  if (namespaced) parameters.push_back(Parameter("namespace", "path", text, "Of the LocalQueue."));
  const Json content = {{"application/json", {{"schema", Reference(Visibility::kSummary)}}}};
  return {{"get",
           {{"description", "Tells which Workloads wait in the queue."},
            {"parameters", parameters},
            {"responses", {{"200", {{"description", "OK"}, {"content", content}}}}}}}};
}

}  // namespace

std::string OpenApiPathOf(std::string_view version) {
  return fmt::format("{}{}/{}", kOpenApiPath, Visibility::kPrefix, version);
}

std::string OpenApiOf(std::string_view version) {
  Json paths;
  for (const auto& [queues, namespaced] : {std::tuple("clusterqueues", false), std::tuple("localqueues", true)})
    paths[fmt::format("{}/{}/{}{}/{{name}}/pendingworkloads", Visibility::kPrefix, version,
                      namespaced ? "namespaces/{namespace}/" : "", queues)] = Operation(namespaced);
  const Json document = {{"openapi", "3.0.0"},
                         {"info", {{"title", "What waits in Kueue's queues"}, {"version", version}}},
                         {"paths", paths},
                         {"components", {{"schemas", Schemas(version)}}}};
  return base::PrintJson(document) + "\n";
}

std::string OpenApiIndex() {
  Json paths;
  for (const std::string_view version : Visibility::kVersions)
    paths[fmt::format("{}/{}", Visibility::kPrefix + 1, version)] = {
        {"serverRelativeURL", fmt::format("{}?hash={}", OpenApiPathOf(version), base::Sha1Hex(OpenApiOf(version)))}};
  return base::PrintJson({{"paths", paths}}) + "\n";
}

}  // namespace tutti::doors
