// SPDX-License-Identifier: Apache-2.0
// Serving: the HTTPS door of `run`, and whom it asks who may pass.
#pragma once

#include <memory>

#include "app/run.h"
#include "kube/client.h"
#include "server/server.h"

namespace tutti::app {

class Serving {
 public:
  // `client`: the API server that is scheduled for; it and `clock` outlive this. Errors name the flag or the file.
  static base::Result<std::unique_ptr<Serving>> Start(const RunFlags& flags, server::Pages pages,
                                                      kube::KubeClient& client, const base::Clock& clock);
  // REQUIRES, lest a review is waited for: `client` is shut down.
  ~Serving();

 private:
  struct Parts;
  explicit Serving(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::app
