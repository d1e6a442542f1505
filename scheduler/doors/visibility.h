// SPDX-License-Identifier: Apache-2.0
// Visibility: Kueue's API of what waits in its queues, visibility.kueue.x-k8s.io, in v1beta1 and v1beta2, for the API
// server's aggregation layer. Thread-safe.
//
//   PREFIX                                                          the group
//   PREFIX/VERSION                                                  its resources
//   PREFIX/VERSION/clusterqueues/NAME/pendingworkloads              a PendingWorkloadsSummary
//   PREFIX/VERSION/namespaces/NS/localqueues/NAME/pendingworkloads  likewise
//
// The latter two take `offset` and `limit`. A user needs the right to get the subresource that it asks for, and then
// sees all that waits there, as in Kueue. Refusals are metav1.Status.
#pragma once

#include <string>
#include <string_view>

#include "doors/desk.h"
#include "server/folder.h"

namespace tutti::doors {

class Visibility {
 public:
  static constexpr const char* kPrefix = "/apis/visibility.kueue.x-k8s.io";
  static constexpr const char* kSummary = "PendingWorkloadsSummary";
  // The preferred one first.
  static constexpr std::string_view kVersions[] = {"v1beta2", "v1beta1"};
  // So many workloads are told if the request has no limit, and at most.
  static constexpr int64_t kUsualLimit = 1'000, kMostLimit = 4'000;

  // `desk` outlives this.
  explicit Visibility(Desk& desk) : desk_(desk) {}

  // Answers a GET.
  server::FolderAnswer Show(const server::FolderRequest& request) const;
  // Returns what is at "/apis": the list of groups, which is this one.
  static std::string Groups();

 private:
  Desk& desk_;
};

}  // namespace tutti::doors
