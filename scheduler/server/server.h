// SPDX-License-Identifier: Apache-2.0
// Server: the HTTPS door for people and probes. It reads published views and decides nothing.
//
//   /livez /readyz /healthz     health, open to all
//   /metrics                    Prometheus
//   /configz                    the configuration in effect
//   /debug/decisions            every gang's Decision; ?namespace= and ?name= narrow it
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/access.h"
#include "server/certificate.h"
#include "server/client_authorities.h"
#include "server/delegated_access.h"
#include "server/health.h"

namespace tutti::server {

struct ServerOptions {
  std::string bind_address = "0.0.0.0";  // as "": every address of the machine, of IPv6 too
  int port = 10259;                      // 0: any free one
  CertificateFiles certificate;
  std::vector<std::string> always_allow_paths = DefaultAlwaysAllowedPaths();
  bool always_allow_loopback = false;  // requests from this machine, or this pod, need no user
  AccessTimes access_times;
};

// What is shown. All functions are called on server threads.
struct Pages {
  std::vector<HealthCheck> live, ready;
  std::function<std::string()> metrics;  // Prometheus text
  std::function<std::string()> configz;  // JSON
  // JSON of the gangs in `ns` (empty: all) named `name` (empty: all).
  std::function<std::string(const std::string& ns, const std::string& name)> decisions;
};

class Server {
 public:
  // Listens, then serves on threads of its own until destroyed. `review` may be null: then no token is anybody's. It
  // must outlive the server, and so must `clock`. Without `client_ca` no client certificate is asked for. Error:
  // kInvalid (a certificate), kUnavailable (the address).
  static base::Result<std::unique_ptr<Server>> Start(const ServerOptions& options, Pages pages,
                                                     const base::Clock& clock, AccessReview* review,
                                                     ClientAuthorities::ReadPem client_ca = {});
  ~Server();

  int port() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::server
