// SPDX-License-Identifier: Apache-2.0
// Command → Request: what goes over the wire for each command. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/command.h"
#include "kube/encode.h"
#include "kube/event_book.h"
#include "kube/transport.h"

namespace tutti::kube {

// What a writer must know of the kinds it writes.
class KindResolver {
 public:
  virtual ~KindResolver() = default;
  // The version to use where a command names none; empty when the kind is not served.
  virtual std::string VersionOf(const std::string& group, const std::string& resource) const = 0;
  virtual bool HasStatus(const std::string& group, const std::string& version, const std::string& resource) const = 0;
};

// What all requests of one writer have in common.
struct RequestContext {
  const KindResolver& kinds;
  Encoding encoding = Encoding::kProtobuf;
  std::string_view component;  // reportingController where an Event names none
  std::string_view instance;   // reportingInstance
};

// The request of any command but an Event; kInvalid when its kind is not served or its body cannot be used. Timeouts,
// channel and query options of the writer's own are not in it.
base::Result<Request> RequestOf(const cluster::CommandBody& command, const RequestContext& context);

// Creates the Event of `record`, or writes how often it was repeated.
Request RequestOf(const cluster::EmitEvent& event, const EventRecord& record, const RequestContext& context);

// The version of `ref`'s kind: its own, or the one that is watched; empty when it is not served.
std::string VersionOf(const cluster::ObjectRef& ref, const KindResolver& kinds);

// Whether the same request, sent again, does no more than it did the first time. False for a Create whose object the
// API server names.
bool MayRepeat(const cluster::CommandBody& command);

// Adds NAME=VALUE to a target's query.
void AddQuery(std::string_view name, std::string_view value, std::string* target);

}  // namespace tutti::kube
