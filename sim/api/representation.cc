// SPDX-License-Identifier: Apache-2.0
#include "sim/api/representation.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_string.h"
#include "cluster/json_text.h"
#include "sim/api/protobuf_body.h"
#include "sim/api/table.h"
#include "sim/objects/yaml.h"
#include "sim/store/strategy.h"

namespace tutti::sim {

using base::PrintJson;

namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The first clause that this server can answer, as a form.
ApiResult<Form> FormOf(std::string_view accept) {
  if (accept.empty()) return Form::kPlain;
  std::string_view rest = accept;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view clause = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    if (!Has(clause, "application/json") && !Has(clause, "*/*") && !Has(clause, "application/*")) continue;
    if (Has(clause, "as=Table")) {
      if (Has(clause, "v=v1;") || Has(clause, "v=v1beta1") || clause.ends_with("v=v1")) return Form::kTable;
      continue;
    }
    if (Has(clause, "as=PartialObjectMetadata")) return Form::kPartialMetadata;
    if (!Has(clause, "as=")) return Form::kPlain;
  }
  return tl::make_unexpected(
      NotAcceptable("only the following media types are accepted: application/json, application/json;stream=watch"));
}

// 1.0 and 1 are one number to Kubernetes.
void MakeWholeNumbersIntegers(Json& value) {
  if (value.is_structured()) {
    for (Json& member : value) MakeWholeNumbersIntegers(member);
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::floor(number) == number && std::fabs(number) < 9.0e15) value = int64_t(number);
  }
}

Json PartialMetadata(const Json& object) {
  return {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", Child(object, "metadata")}};
}

}  // namespace

ApiResult<Representation> Representation::Negotiate(const HttpRequest& request, const ApiResource& resource,
                                                    std::string_view version) {
  const auto form = FormOf(request.accept);
  if (!form) return tl::make_unexpected(form.error());
  Representation out;
  out.resource_ = resource;
  out.version_ = version;
  out.form_ = *form;
  out.as_stored_ = resource.id == resource.stored_as && version == resource.storage_version;
  const std::string include = request.Param("includeObject");
  if (include == "None") out.table_objects_ = TableObjects::kNone;
  if (include == "Object") out.table_objects_ = TableObjects::kObject;
  return out;
}

Json Representation::Render(const Object& object, base::Millis now_ms, bool with_columns) const {
  switch (form_) {
    case Form::kPartialMetadata: return PartialMetadata(*object);
    case Form::kTable: {
      Json table = NewTable(resource_, version_, with_columns);
      table["metadata"]["resourceVersion"] = Dig(*object, "metadata", "resourceVersion");
      table["rows"].push_back(Row(*object, now_ms));
      return table;
    }
    case Form::kPlain: break;
  }
  return as_stored_ ? *object : ToServed(resource_, version_, *object);
}

std::string Representation::Print(const Object& object, base::Millis now_ms, bool with_columns) const {
  return IsAsStored() ? PrintJson(*object) : PrintJson(Render(object, now_ms, with_columns));
}

Json Representation::Row(const Json& stored, base::Millis now_ms) const {
  Json row = {{"cells", TableCells(resource_, version_, stored, now_ms)}};
  if (table_objects_ == TableObjects::kMetadata) row["object"] = PartialMetadata(stored);
  if (table_objects_ == TableObjects::kObject) row["object"] = ToServed(resource_, version_, stored);
  return row;
}

std::string Representation::RenderList(const std::vector<Object>& objects, const Json& list_meta,
                                       base::Millis now_ms) const {
  if (form_ == Form::kTable) {
    Json table = NewTable(resource_, version_, true);
    table["metadata"] = list_meta;
    for (const Object& object : objects) table["rows"].push_back(Row(*object, now_ms));
    return PrintJson(table) + "\n";
  }
  const bool plain = form_ == Form::kPlain;
  std::string text =
      fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},"items":[)",
                  plain ? resource_.list_kind() : "PartialObjectMetadataList",
                  plain ? JoinApiVersion(resource_.id.group, version_) : "meta.k8s.io/v1", PrintJson(list_meta));
  bool first = true;
  for (const Object& object : objects) {
    if (!first) text += ',';
    first = false;
    text += Print(object, now_ms);
  }
  return text + "]}\n";
}

Json Representation::RenderBookmark(int64_t resource_version, bool ends_initial_events) const {
  Json meta = {{"resourceVersion", std::to_string(resource_version)}};
  if (ends_initial_events) meta["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  if (form_ == Form::kTable) {
    Json table = NewTable(resource_, version_, false);
    table["metadata"]["resourceVersion"] = meta["resourceVersion"];
    table["rows"].push_back({{"cells", Json::array()}, {"object", {{"metadata", meta}}}});
    return table;
  }
  if (form_ == Form::kPartialMetadata) return PartialMetadata({{"metadata", meta}});
  return {{"kind", resource_.kind}, {"apiVersion", JoinApiVersion(resource_.id.group, version_)}, {"metadata", meta}};
}

ApiResult<void> CheckAccept(const HttpRequest& request) {
  const auto form = FormOf(request.accept);
  if (!form) return tl::make_unexpected(form.error());
  return {};
}

ApiResult<Json> ParseBody(const HttpRequest& request) {
  const bool is_text = request.content_type.starts_with("text/");
  if (request.content_type.find("protobuf") != std::string::npos) return ParseProtobufBody(request.body);
  if (is_text || request.content_type.find("cbor") != std::string::npos) {
    return tl::make_unexpected(UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: application/json, "
        "application/yaml, application/vnd.kubernetes.protobuf"));
  }
  if (cluster::JsonDepth(request.body) > cluster::kDeepestJson)
    return tl::make_unexpected(BadRequest("the body is nested too deeply"));
  Json body = cluster::ParseJson(request.body);
  if (!body.is_discarded()) {
    MakeWholeNumbersIntegers(body);
    return body;
  }
  if (request.content_type.find("yaml") != std::string::npos) {
    auto parsed = ParseYaml(request.body);
    if (!parsed)
      return tl::make_unexpected(BadRequest("error converting YAML to JSON: yaml: " + parsed.error().message));
    return std::move(parsed->value);
  }
  return tl::make_unexpected(BadRequest("the body of the request is not valid JSON"));
}

}  // namespace tutti::sim
