// SPDX-License-Identifier: Apache-2.0
// The API's protobuf encoding → model values. This is the hot path: fields that scheduling does not need are skipped at
// their tag.
//
// Field numbers come from proto/kubernetes, as field::Message::kField (kube/field_numbers.h, which the build makes).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "kube/spec_cache.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/selection.h"

namespace tutti::kube {

// The content of a protobuf body: "k8s\0" and a runtime.Unknown. Views point into the body.
struct Envelope {
  std::string_view api_version, kind;
  std::string_view raw;
};
base::Result<Envelope> OpenEnvelope(std::string_view body);

// Decode the bare message, as in an Envelope's `raw` or in a list's items. Specs come from `specs`, so that equal specs
// are one object. A spec that cannot be understood is `saturated`, so that its pod is bound to no node.
std::shared_ptr<const model::Pod> DecodePod(std::string_view message, SpecCache* specs);
std::shared_ptr<const model::Node> DecodeNode(std::string_view message);
model::Selection DecodeSelection(model::Selection::Kind kind, std::string_view message);

// The metadata of any object that following a watch needs.
struct MetaView {
  std::string_view ns, name, uid, resource_version;
  bool initial_events_end = false;  // the annotation k8s.io/initial-events-end
};
MetaView DecodeMetaView(std::string_view object);

// A metav1.Status, from protobuf or JSON; code 0 if the body is neither.
struct ApiStatus {
  int code = 0;
  std::string reason, message;
  base::Millis retry_after_ms = -1;  // -1: it does not say
};
ApiStatus DecodeStatus(std::string_view body);
ApiStatus DecodeStatusMessage(std::string_view message);  // the bare protobuf message
ApiStatus DecodeStatusObject(const base::Json& status);

// The metav1.ListMeta of any list message: all use the field numbers of a PodList.
struct ListMeta {
  std::string resource_version, continue_token;
};

// Calls `each` with the bytes of every item of a list message. False: the message is malformed.
template <typename Each>
bool ForEachItem(std::string_view list, ListMeta* meta, Each each);

}  // namespace tutti::kube

#include "kube/field_numbers.h"
#include "kube/wire.h"

namespace tutti::kube {

template <typename Each>
bool ForEachItem(std::string_view list, ListMeta* meta, Each each) {
  WireReader r(list);
  while (r.Next()) {
    if (r.field() == field::PodList::kMetadata)
      for (WireReader m(r.bytes()); m.Next();) {
        if (m.field() == field::ListMeta::kResourceVersion) meta->resource_version = m.text();
        if (m.field() == field::ListMeta::kContinue) meta->continue_token = m.text();
      }
    if (r.field() == field::PodList::kItems) each(r.bytes());
  }
  return r.ok();
}

}  // namespace tutti::kube
