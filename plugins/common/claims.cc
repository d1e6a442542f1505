// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/claims.h"

#include <fmt/format.h>

namespace tutti::plugins {

const model::Claim* FindClaim(const cluster::ClaimUse& use, const cluster::Storage& storage) {
  return cluster::Storage::Find(storage.claims(), use.claim);
}

std::string ClaimName(const cluster::ClaimUse& use) { return use.claim.substr(use.claim.find('/') + 1); }

std::string NotFound(std::string_view kind, std::string_view name) {
  return fmt::format("{} \"{}\" not found", kind, name);
}

bool IsForPod(const cluster::ClaimUse& use, const model::Claim& claim) {
  if (use.owner.empty()) return true;
  const model::OwnerReference* controller = claim.meta.Controller();
  return controller && controller->uid == use.owner;
}

}  // namespace tutti::plugins
