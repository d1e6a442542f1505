// SPDX-License-Identifier: Apache-2.0
#include "kube/encode.h"

#include "base/json.h"
#include "base/json_string.h"
#include "base/text.h"
#include "cluster/json_text.h"
#include "kube/field_numbers.h"
#include "kube/transport.h"
#include "kube/wire.h"

namespace tutti::kube {
namespace {

using Json = base::Json;

constexpr size_t kLongestNote = 1024;

// "k8s\0" and runtime.Unknown{typeMeta, raw}.
std::string Wrap(std::string_view api_version, std::string_view kind, std::string_view message) {
  std::string body("k8s\0", 4);
  WireWriter writer(&body);
  writer.Message(field::Unknown::kTypeMeta, [&](WireWriter& type) {
    type.Text(field::TypeMeta::kApiVersion, api_version);
    type.Text(field::TypeMeta::kKind, kind);
  });
  writer.Bytes(field::Unknown::kRaw, message);
  return body;
}

void WriteMicroTime(WireWriter& writer, uint32_t number, base::Millis wall_ms) {
  writer.Message(number, [&](WireWriter& time) {
    time.Number(field::MicroTime::kSeconds, wall_ms / 1000);
    time.Number(field::MicroTime::kNanos, wall_ms % 1000 * 1'000'000);
  });
}

std::string BindingProtobuf(const cluster::Bind& bind) {
  std::string message;
  WireWriter writer(&message);
  writer.Message(field::Binding::kMetadata, [&](WireWriter& meta) {
    using F = field::ObjectMeta;
    meta.Text(F::kName, bind.pod.name());
    meta.Text(F::kNamespace, bind.pod.ns());
    meta.Text(F::kUid, bind.pod.uid());
    meta.Text(F::kResourceVersion, bind.pod.resource_version);
    for (const auto& [key, value] : bind.annotations)
      meta.Message(F::kAnnotations, [&](WireWriter& entry) {
        entry.Bytes(kMapKey, key);
        entry.Bytes(kMapValue, value);
      });
  });
  writer.Message(field::Binding::kTarget, [&](WireWriter& target) {
    target.Text(field::ObjectReference::kKind, "Node");
    target.Text(field::ObjectReference::kName, bind.node);
  });
  return Wrap("v1", "Binding", message);
}

std::string BindingJson(const cluster::Bind& bind) {
  Json meta = {{"name", bind.pod.name()}, {"namespace", bind.pod.ns()}};
  if (!bind.pod.uid().empty()) meta["uid"] = bind.pod.uid();
  if (!bind.pod.resource_version.empty()) meta["resourceVersion"] = bind.pod.resource_version;
  for (const auto& [key, value] : bind.annotations) meta["annotations"][key] = value;
  return base::PrintJson({{"apiVersion", "v1"},
                          {"kind", "Binding"},
                          {"metadata", meta},
                          {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", bind.node}}}});
}

std::string EventProtobuf(const EventBody& body, const std::string& note) {
  using F = field::Event;
  using Reference = field::ObjectReference;
  const cluster::EmitEvent& event = *body.event;
  std::string message;
  WireWriter writer(&message);
  writer.Message(F::kMetadata, [&](WireWriter& meta) {
    meta.Text(field::ObjectMeta::kName, body.name);
    meta.Text(field::ObjectMeta::kNamespace, body.ns);
  });
  WriteMicroTime(writer, F::kEventTime, body.first_ms);
  if (body.count > 1)
    writer.Message(F::kSeries, [&](WireWriter& series) {
      series.Number(field::EventSeries::kCount, body.count);
      WriteMicroTime(series, field::EventSeries::kLastObservedTime, body.last_ms);
    });
  writer.Text(F::kReportingController, body.reporting_controller);
  writer.Text(F::kReportingInstance, body.reporting_instance);
  writer.Text(F::kAction, event.action);
  writer.Text(F::kReason, event.reason);
  writer.Message(F::kRegarding, [&](WireWriter& regarding) {
    regarding.Text(Reference::kKind, event.regarding.kind);
    regarding.Text(Reference::kNamespace, event.regarding.ns());
    regarding.Text(Reference::kName, event.regarding.name());
    regarding.Text(Reference::kUid, event.regarding.uid());
    regarding.Text(Reference::kApiVersion, body.regarding_api_version);
    regarding.Text(Reference::kResourceVersion, event.regarding.resource_version);
  });
  writer.Text(F::kNote, note);
  writer.Text(F::kType, event.warning ? "Warning" : "Normal");
  return Wrap("events.k8s.io/v1", "Event", message);
}

Json Series(int count, base::Millis last_ms) {
  return {{"count", count}, {"lastObservedTime", base::FormatMicroTime(last_ms)}};
}

std::string EventJson(const EventBody& body, const std::string& note) {
  const cluster::EmitEvent& event = *body.event;
  Json json = {{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"name", body.name}, {"namespace", body.ns}}},
               {"eventTime", base::FormatMicroTime(body.first_ms)},
               {"reportingController", body.reporting_controller},
               {"reportingInstance", body.reporting_instance},
               {"action", event.action},
               {"reason", event.reason},
               {"regarding",
                {{"kind", event.regarding.kind},
                 {"namespace", event.regarding.ns()},
                 {"name", event.regarding.name()},
                 {"uid", event.regarding.uid()},
                 {"apiVersion", body.regarding_api_version}}},
               {"note", note},
               {"type", event.warning ? "Warning" : "Normal"}};
  if (body.count > 1) json["series"] = Series(body.count, body.last_ms);
  return base::PrintJson(json);
}

// Adds the preconditions to a patch without metadata. Most have none, so the patch is not parsed.
std::string PutMetadataFirst(const std::string& patch, const std::string& uid, const std::string& resource_version) {
  std::string text = R"({"metadata":{)";
  const size_t bare = text.size();
  const auto set = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    if (text.size() > bare) text += ',';
    text.append(name);
    base::AppendQuoted(value, &text);
  };
  set(R"("resourceVersion":)", resource_version);
  set(R"("uid":)", uid);
  if (text.size() == bare) return patch;
  return text.append("},").append(patch, 1);
}

// Adds the preconditions to a list of operations. An API server refuses a patch of any type that writes another UID
// (422) or an older version (409).
base::Result<std::string> PutOperationsFirst(const cluster::Patch& patch) {
  Json given = cluster::ParseJson(patch.body);
  if (!given.is_array()) return base::Invalid("the patch is not a list of operations");
  Json operations = Json::array();
  const auto set = [&](const char* path, const std::string& value) {
    if (!value.empty()) operations.push_back({{"op", "add"}, {"path", path}, {"value", value}});
  };
  set("/metadata/uid", patch.object.uid());
  set("/metadata/resourceVersion", patch.object.resource_version);
  for (Json& operation : given) operations.push_back(std::move(operation));
  return base::PrintJson(operations);
}

}  // namespace

const char* ContentType(Encoding encoding) { return encoding == Encoding::kProtobuf ? kProtobuf : kJson; }

std::string EncodeBinding(const cluster::Bind& bind, Encoding encoding) {
  return encoding == Encoding::kProtobuf ? BindingProtobuf(bind) : BindingJson(bind);
}

std::string EncodeEvent(const EventBody& body, Encoding encoding) {
  const std::string note = CutNote(body.event->note, kLongestNote);
  return encoding == Encoding::kProtobuf ? EventProtobuf(body, note) : EventJson(body, note);
}

std::string EncodeSeriesPatch(int count, base::Millis last_ms) {
  return base::PrintJson(Json{{"series", Series(count, last_ms)}});
}

std::string EncodeDelete(const cluster::Delete& command) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!command.object.uid().empty()) options["preconditions"]["uid"] = command.object.uid();
  if (command.dry_run) options["dryRun"] = {"All"};  // with a body, the API server does not read dryRun from the query
  switch (command.propagation) {
    case cluster::Propagation::kOfKind: break;
    case cluster::Propagation::kBackground: options["propagationPolicy"] = "Background"; break;
    case cluster::Propagation::kForeground: options["propagationPolicy"] = "Foreground"; break;
    case cluster::Propagation::kOrphan: options["propagationPolicy"] = "Orphan"; break;
  }
  return base::PrintJson(options);
}

base::Result<std::string> WithPreconditions(const cluster::Patch& patch) {
  const std::string &uid = patch.object.uid(), &resource_version = patch.object.resource_version;
  if (patch.type == cluster::Patch::Type::kJson) return PutOperationsFirst(patch);
  if (patch.body.starts_with("{\"") && patch.body.find(R"("metadata")") == std::string::npos)
    return PutMetadataFirst(patch.body, uid, resource_version);
  Json json = cluster::ParseJson(patch.body);
  if (!json.is_object()) return base::Invalid("the patch is not a JSON object");
  if (uid.empty() && resource_version.empty()) return patch.body;
  if (const auto meta = json.find("metadata"); meta != json.end() && !meta->is_object())
    return base::Invalid("the patch's metadata is not an object");
  if (!uid.empty()) json["metadata"]["uid"] = uid;
  if (!resource_version.empty()) json["metadata"]["resourceVersion"] = resource_version;
  return base::PrintJson(json);
}

std::string CutNote(std::string_view note, size_t limit) {
  constexpr std::string_view kMore = " ...";
  if (note.size() <= limit) return std::string(note);
  return std::string(base::Cut(note, limit - kMore.size())) + std::string(kMore);
}

}  // namespace tutti::kube
