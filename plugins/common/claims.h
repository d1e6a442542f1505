// SPDX-License-Identifier: Apache-2.0
// Look-ups of a class's claims, and kube-scheduler's words for missing ones. The volume plugins share them.
#pragma once

#include <string>
#include <string_view>

#include "cluster/snapshot.h"

namespace tutti::plugins {

// Finds the claim; null: there is none.
const model::Claim* FindClaim(const cluster::ClaimUse& use, const cluster::Storage& storage);

// Returns "name" of "namespace/name".
std::string ClaimName(const cluster::ClaimUse& use);

// Says `persistentvolumeclaim "a" not found`.
std::string NotFound(std::string_view kind, std::string_view name);

// Tells whether the pod may use the claim. False if the use is an ephemeral volume and the claim of that name was not
// made for the pod.
bool IsForPod(const cluster::ClaimUse& use, const model::Claim& claim);

}  // namespace tutti::plugins
