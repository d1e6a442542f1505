// SPDX-License-Identifier: Apache-2.0
#include "kube/command_request.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"

namespace tutti::kube {
namespace {

constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";
constexpr const char* kJsonPatch = "application/json-patch+json";

const char* PatchContentType(cluster::Patch::Type type) {
  switch (type) {
    case cluster::Patch::Type::kStrategic: return kStrategicPatch;
    case cluster::Patch::Type::kJson: return kJsonPatch;
    default: return kMergePatch;
  }
}

base::Error NotServed(const cluster::ObjectRef& ref) {
  return {base::ErrorCode::kInvalid, fmt::format("{} is not served", ref.resource)};
}

std::string ApiVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

struct Builder {
  const RequestContext& context;

  base::Result<Request> operator()(const cluster::Bind& bind) const {
    Request request;
    request.method = Method::kPost;
    request.target = ObjectPath("", "v1", "pods", bind.pod.ns(), bind.pod.name()) + "/binding";
    request.accept = kProtobufOrJson;
    request.content_type = ContentType(context.encoding);
    request.body = EncodeBinding(bind, context.encoding);
    return request;
  }

  base::Result<Request> operator()(const cluster::Delete& gone) const {
    const std::string version = VersionOf(gone.object, context.kinds);
    if (version.empty()) return tl::make_unexpected(NotServed(gone.object));
    Request request;
    request.method = Method::kDelete;
    request.target = ObjectPath(gone.object.group, version, gone.object.resource, gone.object.ns(), gone.object.name());
    request.accept = kProtobufOrJson;
    request.body = EncodeDelete(gone);
    return request;
  }

  base::Result<Request> operator()(const cluster::Patch& patch) const {
    const cluster::ObjectRef& object = patch.object;
    const std::string version = VersionOf(object, context.kinds);
    if (version.empty()) return tl::make_unexpected(NotServed(object));
    auto body = WithPreconditions(patch);
    if (!body) return tl::make_unexpected(body.error());
    Request request;
    request.method = Method::kPatch;
    request.target = ObjectPath(object.group, version, object.resource, object.ns(), object.name());
    if (patch.status && context.kinds.HasStatus(std::string(object.group), version, std::string(object.resource)))
      request.target += "/status";
    request.accept = object.group.empty() ? kProtobufOrJson : kJson;
    request.content_type = PatchContentType(patch.type);
    request.body = std::move(*body);
    if (patch.dry_run) AddQuery("dryRun", "All", &request.target);
    return request;
  }

  base::Result<Request> operator()(const cluster::Create& create) const {
    const std::string version = VersionOf(create.object, context.kinds);
    if (version.empty()) return tl::make_unexpected(NotServed(create.object));
    Request request;
    request.method = Method::kPost;
    request.target = CollectionPath(create.object.group, version, create.object.resource, create.object.ns());
    request.body = create.body;
    if (create.dry_run) AddQuery("dryRun", "All", &request.target);
    return request;
  }

  base::Result<Request> operator()(const cluster::EmitEvent&) const {
    return base::Invalid("an Event has a request of its own");
  }
};

}  // namespace

base::Result<Request> RequestOf(const cluster::CommandBody& command, const RequestContext& context) {
  return std::visit(Builder{context}, command);
}

Request RequestOf(const cluster::EmitEvent& event, const EventRecord& record, const RequestContext& context) {
  Request request;
  request.accept = kProtobufOrJson;
  const std::string collection = CollectionPath("events.k8s.io", "v1", "events", record.ns);
  if (record.written_count > 0) {
    request.method = Method::kPatch;
    request.target = collection + "/" + Escape(record.name);
    request.content_type = kMergePatch;
    request.body = EncodeSeriesPatch(record.count, record.last_wall_ms);
    return request;
  }
  EventBody body;
  body.ns = record.ns;
  body.name = record.name;
  body.first_ms = record.first_wall_ms;
  body.last_ms = record.last_wall_ms;
  body.count = record.count;
  body.reporting_controller =
      event.reporting_controller.empty() ? std::string(context.component) : event.reporting_controller;
  body.reporting_instance = std::string(context.instance);
  body.regarding_api_version = ApiVersion(event.regarding.group, VersionOf(event.regarding, context.kinds));
  body.event = &event;
  request.method = Method::kPost;
  request.target = collection;
  request.content_type = ContentType(context.encoding);
  request.body = EncodeEvent(body, context.encoding);
  return request;
}

std::string VersionOf(const cluster::ObjectRef& ref, const KindResolver& kinds) {
  return ref.version.empty() ? kinds.VersionOf(std::string(ref.group), std::string(ref.resource))
                             : std::string(ref.version);
}

bool MayRepeat(const cluster::CommandBody& command) {
  const auto* create = std::get_if<cluster::Create>(&command);
  if (create == nullptr || create->dry_run || create->body.find("\"generateName\"") == std::string::npos) return true;
  const base::Json body = cluster::ParseJson(create->body);
  const auto meta = body.is_object() ? body.find("metadata") : body.end();
  return meta == body.end() || !meta->is_object() || !meta->contains("generateName") || meta->contains("name");
}

void AddQuery(std::string_view name, std::string_view value, std::string* target) {
  target->append(target->find('?') == std::string::npos ? "?" : "&").append(name).append("=").append(value);
}

}  // namespace tutti::kube
