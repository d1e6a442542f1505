// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_meta.h"

#include <algorithm>

#include "kube/decode.h"
#include "kube/field_numbers.h"
#include "model/quantity.h"

namespace tutti::kube {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
// This annotation holds a copy of the whole object, and is often more than half of it.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

void DecodeOwner(std::string_view message, model::ObjectMeta* meta) {
  model::OwnerReference owner;
  bool controller = false;
  using F = field::OwnerReference;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kKind: owner.kind = r.text(); break;
      case F::kName: owner.name = r.text(); break;
      case F::kUid: owner.uid = r.text(); break;
      case F::kApiVersion: owner.api_version = r.text(); break;
      case F::kController: controller = r.flag(); break;
    }
  if (controller) meta->controller = std::move(owner);
}

// One entry of a map<string, T>.
struct MapEntry {
  std::string_view key, value;
};
MapEntry DecodeEntry(std::string_view entry) {
  MapEntry result;
  for (WireReader r(entry); r.Next();) {
    if (r.field() == kMapKey) result.key = r.bytes();
    if (r.field() == kMapValue) result.value = r.bytes();
  }
  return result;
}

}  // namespace

base::Result<Envelope> OpenEnvelope(std::string_view body) {
  if (!body.starts_with(kMagic)) return base::Invalid("not in Kubernetes' protobuf encoding");
  Envelope envelope;
  WireReader r(body.substr(kMagic.size()));
  while (r.Next()) {
    if (r.field() == field::Unknown::kRaw) envelope.raw = r.bytes();
    if (r.field() != field::Unknown::kTypeMeta) continue;
    for (WireReader type(r.bytes()); type.Next();) {
      if (type.field() == field::TypeMeta::kApiVersion) envelope.api_version = type.bytes();
      if (type.field() == field::TypeMeta::kKind) envelope.kind = type.bytes();
    }
  }
  if (!r.ok()) return base::Invalid("malformed protobuf envelope");
  return envelope;
}

// Decodes a time. A year that the API server would refuse becomes the nearest valid one, so that later sums do not
// overflow.
base::Millis DecodeTime(std::string_view time) {
  constexpr int64_t kYear1 = -62'135'596'800, kYear9999 = 253'402'300'799;
  int64_t seconds = 0, nanos = 0;
  for (WireReader r(time); r.Next();) {
    if (r.field() == field::Time::kSeconds) seconds = r.number();
    if (r.field() == field::Time::kNanos) nanos = r.number();
  }
  return std::clamp(seconds, kYear1, kYear9999) * 1000 + nanos / 1'000'000;
}

void AddEntry(std::string_view entry, model::StringMap* map) {
  const MapEntry e = DecodeEntry(entry);
  map->emplace_back(e.key, e.value);
}

void SortMap(model::StringMap* map) {
  // The API server writes maps in order already.
  if (!std::is_sorted(map->begin(), map->end())) std::sort(map->begin(), map->end());
}

bool SetResource(std::string_view entry, model::ResourceList* list) {
  const MapEntry e = DecodeEntry(entry);
  const std::string_view text = FindBytes(e.value, field::Quantity::kString);
  const auto amount = e.key == model::kCpu ? model::ParseMilli(text) : model::ParseUnits(text);
  if (!amount || amount->value < 0) return false;
  list->Set(e.key, amount->value);
  return true;
}

model::ObjectMeta DecodeMeta(std::string_view message) {
  model::ObjectMeta meta;
  model::StringMap labels;
  using F = field::ObjectMeta;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kName: meta.name = r.text(); break;
      case F::kNamespace: meta.ns = r.text(); break;
      case F::kUid: meta.uid = r.text(); break;
      case F::kResourceVersion: meta.resource_version = r.text(); break;
      case F::kGeneration: meta.generation = r.number(); break;
      case F::kCreationTimestamp: meta.created_ms = DecodeTime(r.bytes()); break;
      case F::kDeletionTimestamp: meta.deleted_ms = DecodeTime(r.bytes()); break;
      case F::kLabels: AddEntry(r.bytes(), &labels); break;
      case F::kAnnotations:
        if (DecodeEntry(r.bytes()).key != kLastApplied) AddEntry(r.bytes(), &meta.annotations);
        break;
      case F::kOwnerReferences: DecodeOwner(r.bytes(), &meta); break;
    }
  SortMap(&labels);
  meta.labels = std::move(labels);
  SortMap(&meta.annotations);
  return meta;
}

// Decodes the metadata, which has the same field number in objects of all kinds.
MetaView DecodeMetaView(std::string_view object) {
  MetaView view;
  using F = field::ObjectMeta;
  for (WireReader r(FindBytes(object, field::Pod::kMetadata)); r.Next();) switch (r.field()) {
      case F::kName: view.name = r.bytes(); break;
      case F::kNamespace: view.ns = r.bytes(); break;
      case F::kUid: view.uid = r.bytes(); break;
      case F::kResourceVersion: view.resource_version = r.bytes(); break;
      case F::kAnnotations: view.initial_events_end |= DecodeEntry(r.bytes()).key == kInitialEventsEnd; break;
    }
  return view;
}

}  // namespace tutti::kube
