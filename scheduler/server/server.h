// SPDX-License-Identifier: Apache-2.0
// Server: the HTTPS door for people and probes. It reads published views and decides nothing.
//
//   /livez /readyz /healthz     health, open to all; each check alone, which is not, under /livez/NAME
//   /                           the list of all pages
//   and what it is given as `Pages`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/access.h"
#include "server/certificate.h"
#include "server/client_authorities.h"
#include "server/delegated_access.h"
#include "server/health.h"
#include "server/tls_choice.h"

namespace tutti::server {

struct ServerOptions {
  std::string bind_address = "0.0.0.0";  // as "": every address of the machine, of IPv6 too
  int port = 10259;                      // 0: any free one
  CertificateFiles certificate;
  std::vector<std::string> always_allow_paths = DefaultAlwaysAllowedPaths();
  bool always_allow_loopback = false;  // requests from this machine, or this pod, need no user
  AccessTimes access_times;
  bool share_port = false;  // other processes that say so too may listen on the same port
  TlsChoice tls;
};

// What follows the "?", decoded.
using Query = std::map<std::string, std::string>;

struct PageAnswer {
  int status = 200;
  std::string body;  // plain text unless the status is 200
};

inline constexpr const char* kText = "text/plain; charset=utf-8";
inline constexpr const char* kPrometheus = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr const char* kJson = "application/json";

struct Page {
  std::string path;
  const char* type = kText;
  std::function<PageAnswer(const Query&)> show;
  // The parameters that it reads. One that it does not is answered with 400; none listed: whatever is given is ignored.
  std::vector<std::string> parameters = {};
};

// What is shown. All functions are called on server threads.
struct Pages {
  std::vector<HealthCheck> live, ready, health;
  std::vector<Page> shown;
  // Told of each health check that was asked: "livez", "ping". May be empty.
  std::function<void(std::string_view path, std::string_view check, bool well)> on_check;
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
