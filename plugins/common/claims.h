// SPDX-License-Identifier: Apache-2.0
// What the volume plugins share: a class's claims as the cluster has them, and upstream's words for what is missing.
#pragma once

#include <string>
#include <string_view>

#include "cluster/snapshot.h"

namespace tutti::plugins {

// nullptr: there is no such claim.
const model::Claim* FindClaim(const cluster::ClaimUse& use, const cluster::Storage& storage);

// "name" of "namespace/name".
std::string ClaimName(const cluster::ClaimUse& use);

// `persistentvolumeclaim "a" not found`.
std::string NotFound(std::string_view kind, std::string_view name);

// True unless the claim must have been made for the pod, and was not: some other claim stands where an ephemeral
// volume's is to be.
bool IsForPod(const cluster::ClaimUse& use, const model::Claim& claim);

}  // namespace tutti::plugins
