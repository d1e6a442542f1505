// SPDX-License-Identifier: Apache-2.0
// sim/nodes/request_words.h - the conditions that autoscalers write on a ProvisioningRequest, in their words.
//
// Two that make nodes are known: GKE's queued provisioning, and the open cluster-autoscaler's atomic scale-up. They
// differ in reasons and messages, and in that the first begins with every condition False.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim {

inline constexpr const char* kAccepted = "Accepted";
inline constexpr const char* kProvisioned = "Provisioned";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kBookingExpired = "BookingExpired";
inline constexpr const char* kCapacityRevoked = "CapacityRevoked";

struct RequestWords {
  std::vector<Condition> first;  // when the request is first seen; may be empty
  Condition accepted, provisioned, waits, failed, expired, revoked;
};

// Returns the words of the autoscaler that serves a provisioningClassName, or null: another one's.
const RequestWords* WordsOf(std::string_view provisioning_class);

}  // namespace tutti::sim
