// SPDX-License-Identifier: Apache-2.0
#include "doors/sight.h"

#include <fmt/format.h>

namespace tutti::doors {
namespace {

constexpr base::Millis kAskAgainMs = 60'000;

}  // namespace

DoorResult<bool> Sight::Ask(const std::string& ns) {
  const base::Millis now = clock_.MonotonicMs();
  if (const auto at = seen_.find(ns); at != seen_.end() && now - at->second.asked_ms < kAskAgainMs)
    return at->second.may;
  if (!seen_.contains(ns) && seen_.size() > kMostNamespaces)
    return Fail(Failure::Kind::kForbidden,
                fmt::format("user \"{}\" may not list the pods of all namespaces, and there are more than {}: name one "
                            "with namespace=",
                            rights_->user(), kMostNamespaces));
  const auto may = rights_->MayListPods(ns);
  if (!may)
    return Fail(Failure::Kind::kUnavailable,
                fmt::format("the API server could not say what user \"{}\" may see; try again", rights_->user()));
  seen_[ns] = {*may, now};
  return *may;
}

DoorResult<bool> Sight::SeesAll() { return Ask(""); }

DoorResult<bool> Sight::SeesPath(const std::string& path) {
  if (const auto may = rights_->MayGet(path); may && *may) return true;
  return SeesAll();
}

DoorResult<bool> Sight::Sees(const std::string& ns) {
  if (!only_.empty() && ns != only_) return false;
  const DoorResult<bool> all = SeesAll();
  if (!all || *all) return all;
  return Ask(ns);
}

DoorResult<bool> Sight::SeesIfAsked(const std::string& ns) {
  DoorResult<bool> sees = Sees(ns);
  if (!sees && sees.error().kind == Failure::Kind::kForbidden) return false;
  return sees;
}

DoorResult<void> Sight::CheckOnly() {
  if (only_.empty()) return {};
  const DoorResult<bool> sees = Sees(only_);
  if (!sees) return tl::make_unexpected(sees.error());
  if (*sees) return {};
  return Fail(Failure::Kind::kForbidden,
              fmt::format("user \"{}\" may not list the pods of namespace {}", rights_->user(), only_));
}

}  // namespace tutti::doors
