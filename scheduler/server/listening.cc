// SPDX-License-Identifier: Apache-2.0
#include "server/listening.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace tutti::server {

std::string ListenAddress(const std::string& asked) {
  if (!asked.empty() && asked != "0.0.0.0") return asked;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool has_ipv6 = probe >= 0 && bind(probe, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
  if (probe >= 0) close(probe);
  return has_ipv6 ? "::" : "0.0.0.0";
}

std::string WhyNotListening(const std::string& address, int error) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_PASSIVE;
  if (const int unresolved = getaddrinfo(address.c_str(), nullptr, &hints, &found)) return gai_strerror(unresolved);
  freeaddrinfo(found);
  return std::strerror(error);
}

void PrepareToListen(int socket, bool share) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (share) setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  const int no = 0;  // fails for a socket of IPv4, without harm
  setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
}

}  // namespace tutti::server
