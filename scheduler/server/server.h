// SPDX-License-Identifier: Apache-2.0
// Server: the HTTPS door for people and probes. It shows published views and decides nothing about gangs.
//
//   /livez /readyz /healthz     health, open to all; a single check, which needs a user, is under /livez/NAME
//   /                           the list of all pages
//   and the pages and folders in `Pages`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/access.h"
#include "server/certificate.h"
#include "server/client_authorities.h"
#include "server/delegated_access.h"
#include "server/folder.h"
#include "server/health.h"
#include "server/tls_choice.h"

namespace tutti::server {

struct ServerOptions {
  std::string bind_address = "0.0.0.0";  // as "": every address of the machine, also of IPv6
  int port = 10259;                      // 0: any free one
  CertificateFiles certificate;
  std::vector<std::string> always_allow_paths = DefaultAlwaysAllowedPaths();
  bool always_allow_loopback = false;  // requests from this machine, or this pod, need no user
  AccessTimes access_times;
  bool share_port = false;  // other processes with this option may listen on the same port
  TlsChoice tls;
};

struct PageAnswer {
  int status = 200;
  std::string body;  // plain text unless the status is 200
};

struct Page {
  std::string path;
  const char* type = kText;
  std::function<PageAnswer(const Query&)> show;
  // The parameters that it reads; another one is answered with 400. If none are listed, all parameters are ignored.
  std::vector<std::string> parameters = {};
};

// An answer that needs no user: it is the same for all.
struct OpenAnswer {
  int status = 200;
  const char* type = kText;
  std::string_view body;  // lives as long as the program
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// A question that all may ask by a POST of JSON, as its answer is made of the question alone. At most
// kMostQuestions of them are read at a time, and kMostQuestionsEach of one address.
struct OpenQuestion {
  std::string path;
  std::function<PageAnswer(std::string_view body)> answer;  // JSON if the status is 200
};

// The pages of a server. All functions are called on server threads.
struct Pages {
  std::vector<HealthCheck> live, ready, health;
  std::vector<Page> shown;
  // Every user may ask, and gets what it may see. At most kMostStreams of their streams are open at a time,
  // and kMostStreamsEach of one user.
  std::vector<Folder> folders = {};
  // Called for each health check that was run: "livez", "ping". May be empty.
  std::function<void(std::string_view path, std::string_view check, bool well)> on_check;
  // Answers the paths that are open to all, before anything is asked about the sender; nullopt: it is none of them. May
  // be empty.
  std::function<std::optional<OpenAnswer>(std::string_view path)> open;
  std::vector<OpenQuestion> questions = {};
  std::string open_at;  // the first of those paths, for the list at "/"; may be empty
};

class Server {
 public:
  static constexpr int kMostStreams = 128, kMostStreamsEach = 8;
  static constexpr int kMostQuestions = 64, kMostQuestionsEach = 16;
  // So many bytes an OpenQuestion may have: more than etcd takes of an object.
  static constexpr size_t kMostQuestion = size_t{2} << 20;

  // Listens, then serves on threads of its own until destroyed. With a null `review` no token is valid. `review` and
  // `clock` must outlive the server. Without `client_trust` clients are not asked for a certificate. Errors: kInvalid
  // (a certificate), kUnavailable (the address).
  static base::Result<std::unique_ptr<Server>> Start(const ServerOptions& options, Pages pages,
                                                     const base::Clock& clock, AccessReview* review,
                                                     ClientAuthorities::ReadTrust client_trust = {});
  ~Server();

  int port() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::server
