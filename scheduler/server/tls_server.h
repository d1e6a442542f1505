// SPDX-License-Identifier: Apache-2.0
// TlsServer: httplib's server over TLS, whose handlers get header fields as they were sent.
//
// The library decodes "%41" in them. A front proxy names users in headers, and does not encode them: so one user would
// pass for another, and a group "system%3Amasters" for "system:masters".
#pragma once

#include <httplib.h>

namespace tutti::server {

class TlsServer final : public httplib::SSLServer {
 public:
  using SSLServer::SSLServer;

 private:
  // Serves one request, so that no connection is held for long: scrapes, probes and people come seldom. The library has
  // set the times after which reads and writes of the socket fail.
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace tutti::server
