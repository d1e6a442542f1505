// SPDX-License-Identifier: Apache-2.0
// The kinds that an AppWrapper may wrap. It is the table of the admission policy in manifests/appwrapper/rights, too:
// what is not in it is not created.
#pragma once

#include <string_view>
#include <vector>

#include "model/object.h"

namespace tutti::dialects {

struct WrappedKind {
  model::ObjectKind kind;
  // The feed is asked for it, so that what becomes of an object is seen. Of the others no more is known than that they
  // were created: they are too many in a cluster, or a feed does not show them as objects.
  bool watched = false;
};

// Null: it is not wrapped.
const WrappedKind* FindWrappedKind(std::string_view group, std::string_view kind);

// Those that are watched.
const std::vector<model::ObjectKind>& WatchedKinds();

}  // namespace tutti::dialects
