// SPDX-License-Identifier: Apache-2.0
// The life of an AppWrapper of v1beta1, in MCAD's words: Init, Queueing, HeadOfLine, Backoff where it waits,
// Dispatched, Running, and how it ends.
#pragma once

#include "base/json.h"
#include "dialects/appwrapper_facts.h"

namespace tutti::dialects {

WrapperWish LifeOfV1beta1(const WrapperFacts& facts);

// By the status: its pods are to have places; its items have been created.
bool QueuesV1beta1(const base::Json& status);
bool IsDispatchedV1beta1(const base::Json& status);
// By the counts in it: there are pods, and all of them have ended.
bool HaveAllEndedV1beta1(const base::Json& status);

}  // namespace tutti::dialects
