// SPDX-License-Identifier: Apache-2.0
#include "kube/encode.h"

#include "base/json.h"
#include "base/json_string.h"
#include "base/text.h"
#include "cluster/json_text.h"
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
  writer.Message(1, [&](WireWriter& type) {
    type.Text(1, api_version);
    type.Text(2, kind);
  });
  writer.Bytes(2, message);
  return body;
}

void WriteMicroTime(WireWriter& writer, uint32_t field, base::Millis wall_ms) {
  writer.Message(field, [&](WireWriter& time) {
    time.Number(1, wall_ms / 1000);
    time.Number(2, wall_ms % 1000 * 1'000'000);
  });
}

std::string BindingProtobuf(const cluster::Bind& bind) {
  std::string message;
  WireWriter writer(&message);
  writer.Message(1, [&](WireWriter& meta) {
    meta.Text(1, bind.pod.name());
    meta.Text(3, bind.pod.ns());
    meta.Text(5, bind.pod.uid());
    meta.Text(6, bind.pod.resource_version);
    for (const auto& [key, value] : bind.annotations)
      meta.Message(12, [&](WireWriter& entry) {
        entry.Bytes(1, key);
        entry.Bytes(2, value);
      });
  });
  writer.Message(2, [&](WireWriter& target) {
    target.Text(1, "Node");
    target.Text(3, bind.node);
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
  const cluster::EmitEvent& event = *body.event;
  std::string message;
  WireWriter writer(&message);
  writer.Message(1, [&](WireWriter& meta) {
    meta.Text(1, body.name);
    meta.Text(3, body.ns);
  });
  WriteMicroTime(writer, 2, body.first_ms);
  if (body.count > 1)
    writer.Message(3, [&](WireWriter& series) {
      series.Number(1, body.count);
      WriteMicroTime(series, 2, body.last_ms);
    });
  writer.Text(4, body.reporting_controller);
  writer.Text(5, body.reporting_instance);
  writer.Text(6, event.action);
  writer.Text(7, event.reason);
  writer.Message(8, [&](WireWriter& regarding) {
    regarding.Text(1, event.regarding.kind);
    regarding.Text(2, event.regarding.ns());
    regarding.Text(3, event.regarding.name());
    regarding.Text(4, event.regarding.uid());
    regarding.Text(5, body.regarding_api_version);
    regarding.Text(6, event.regarding.resource_version);
  });
  writer.Text(10, note);
  writer.Text(11, event.warning ? "Warning" : "Normal");
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

// Of a patch that has no metadata; most have none, and need not be read.
std::string PutMetadataFirst(const std::string& patch, const std::string& uid, const std::string& resource_version) {
  std::string text = R"({"metadata":{)";
  const size_t bare = text.size();
  const auto field = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    if (text.size() > bare) text += ',';
    text.append(name);
    base::AppendQuoted(value, &text);
  };
  field(R"("resourceVersion":)", resource_version);
  field(R"("uid":)", uid);
  if (text.size() == bare) return patch;
  return text.append("},").append(patch, 1);
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

std::string EncodeDelete(const std::string& uid) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!uid.empty()) options["preconditions"]["uid"] = uid;
  return base::PrintJson(options);
}

base::Result<std::string> WithPreconditions(const std::string& patch, const std::string& uid,
                                            const std::string& resource_version) {
  if (patch.starts_with("{\"") && patch.find(R"("metadata")") == std::string::npos)
    return PutMetadataFirst(patch, uid, resource_version);
  Json json = cluster::ParseJson(patch);
  if (!json.is_object()) return base::Invalid("the patch is not a JSON object");
  if (uid.empty() && resource_version.empty()) return patch;
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
