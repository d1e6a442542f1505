// SPDX-License-Identifier: Apache-2.0
// The life of an AppWrapper of v1beta2: Suspended while it waits, Resuming while its items are created, Running, and
// how it ends or is tried again.
#pragma once

#include "base/json.h"
#include "dialects/appwrapper_facts.h"

namespace tutti::dialects {

WrapperWish LifeOfV1beta2(const WrapperFacts& facts);

// By the status: its pods are to have places; its items have been created.
bool QueuesV1beta2(const base::Json& status);
bool IsDeployedV1beta2(const base::Json& status);

}  // namespace tutti::dialects
