// SPDX-License-Identifier: Apache-2.0
// Serving: the HTTPS door of `run`, and the API servers that it asks for permission.
#pragma once

#include <memory>

#include "app/run.h"
#include "kube/client.h"
#include "server/server.h"

namespace tutti::app {

class Serving {
 public:
  // Starts the server. `client` is of the cluster's API server; it and `clock` outlive this. Errors name the flag or
  // the file.
  static base::Result<std::unique_ptr<Serving>> Start(const RunFlags& flags, server::Pages pages,
                                                      kube::KubeClient& client, const base::Clock& clock);
  // REQUIRES: `client` is shut down. Otherwise the destructor waits for a review under way.
  ~Serving();

 private:
  struct Parts;
  explicit Serving(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::app
