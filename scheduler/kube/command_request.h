// SPDX-License-Identifier: Apache-2.0
// Command → Request: makes the HTTP request of each command. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/command.h"
#include "kube/encode.h"
#include "kube/event_book.h"
#include "kube/transport.h"

namespace tutti::kube {

inline constexpr const char* kMergePatch = "application/merge-patch+json";

// Knows the kinds of the objects that a writer writes.
class KindResolver {
 public:
  virtual ~KindResolver() = default;
  // Returns the version for a command that has none; empty when the kind is not served.
  virtual std::string VersionOf(const std::string& group, const std::string& resource) const = 0;
  virtual bool HasStatus(const std::string& group, const std::string& version, const std::string& resource) const = 0;
};

// The settings that all requests of one writer share.
struct RequestContext {
  const KindResolver& kinds;
  Encoding encoding = Encoding::kProtobuf;
  std::string_view component;  // reportingController of an Event that has none
  std::string_view instance;   // reportingInstance
};

// Makes the request of any command but an Event. It has no timeouts, channel or query options of the writer. Error:
// kInvalid when the kind is not served or the body cannot be used.
base::Result<Request> RequestOf(const cluster::CommandBody& command, const RequestContext& context);

// Makes the request that creates the Event of `record`, or that writes how often it was repeated.
Request RequestOf(const cluster::EmitEvent& event, const EventRecord& record, const RequestContext& context);

// Returns the version of `ref`: its own, or the one that is watched; empty when the kind is not served.
std::string VersionOf(const cluster::ObjectRef& ref, const KindResolver& kinds);

// Whether the request may be sent twice with the effect of one. False for a Create for which the API server makes the
// name.
bool MayRepeat(const cluster::CommandBody& command);

// Adds NAME=VALUE to a target's query.
void AddQuery(std::string_view name, std::string_view value, std::string* target);

}  // namespace tutti::kube
