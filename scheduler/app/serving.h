// SPDX-License-Identifier: Apache-2.0
// Serving: the ports of `run`, for HTTPS and gRPC, and the API servers that they ask for permission.
#pragma once

#include <memory>

#include "app/run.h"
#include "doors/desk.h"
#include "kube/client.h"
#include "server/server.h"

namespace tutti::app {

class Serving {
 public:
  // Starts what `flags` ask for, perhaps nothing. `client` is of the cluster's API server; it, `desk` and `clock`
  // outlive this. Errors name the flag or the file.
  static base::Result<std::unique_ptr<Serving>> Start(const RunFlags& flags, server::Pages pages, doors::Desk& desk,
                                                      kube::KubeClient& client, const base::Clock& clock);
  // REQUIRES: `client` is shut down. Otherwise the destructor waits for a review under way.
  ~Serving();

 private:
  struct Parts;
  explicit Serving(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::app
