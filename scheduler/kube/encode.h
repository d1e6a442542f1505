// SPDX-License-Identifier: Apache-2.0
// Bodies of requests. Binding and Event are written as protobuf, which the API server reads about ten times as fast as
// JSON. For a server without protobuf they are JSON.
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
// Makes a merge patch that sets the series.
std::string EncodeSeriesPatch(int count, base::Millis last_ms);

// Makes DeleteOptions with a UID precondition, as JSON.
std::string EncodeDelete(const cluster::Delete& command);

// Returns the body of `patch` with metadata.uid and metadata.resourceVersion set, where they are given. Error: kInvalid
// if the body is not the JSON that its type requires.
base::Result<std::string> WithPreconditions(const cluster::Patch& patch);

// Cuts `note` to `limit` bytes of UTF-8. A note that was cut ends in " ...".
std::string CutNote(std::string_view note, size_t limit);

}  // namespace tutti::kube
