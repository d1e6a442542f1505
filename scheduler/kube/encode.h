// SPDX-License-Identifier: Apache-2.0
// Bodies of requests. Binding and Event are written as protobuf, of which the API server reads some ten times as many a
// second as of JSON, or as JSON for a server that knows no other.
#pragma once

#include <string>
#include <string_view>

#include "cluster/command.h"

namespace tutti::kube {

enum class Encoding { kProtobuf, kJson };
const char* ContentType(Encoding encoding);

std::string EncodeBinding(const cluster::Bind& bind, Encoding encoding);

// events.k8s.io/v1 Event.
struct EventBody {
  std::string ns, name;
  base::Millis first_ms = 0, last_ms = 0;  // wall
  int count = 1;                           // above 1: a series
  std::string reporting_controller, reporting_instance;
  std::string regarding_api_version;
  const cluster::EmitEvent* event = nullptr;
};
std::string EncodeEvent(const EventBody& body, Encoding encoding);
// A merge patch that sets the series.
std::string EncodeSeriesPatch(int count, base::Millis last_ms);

// DeleteOptions with a UID precondition, as JSON.
std::string EncodeDelete(const cluster::Delete& command);

// The body of `patch`, which sets metadata.uid and metadata.resourceVersion where they are given; kInvalid when it is
// not the JSON that its type asks for.
base::Result<std::string> WithPreconditions(const cluster::Patch& patch);

// At most `limit` bytes of UTF-8, ending in " ..." if it was longer.
std::string CutNote(std::string_view note, size_t limit);

}  // namespace tutti::kube
