// SPDX-License-Identifier: Apache-2.0
// sim/schema/event_conversion.h - an Event has two spellings, core/v1 and events.k8s.io/v1,
// of which the first is stored.
#pragma once

#include "sim/objects/object.h"

namespace tutti::sim {

Json EventToCore(Json event);
Json EventFromCore(const Json& core);

}  // namespace tutti::sim
