// SPDX-License-Identifier: Apache-2.0
// What all ports have in common: where they listen, and why they cannot.
#pragma once

#include <string>

namespace tutti::server {

// Returns the address to listen on. The default is all addresses of IPv4 and IPv6, as in Go, or of IPv4 only if the
// machine has no IPv6.
std::string ListenAddress(const std::string& asked);

// Says why listening failed. `error` is errno, which means nothing if the address is invalid.
std::string WhyNotListening(const std::string& address, int error);

// Sets the options of a socket before it listens. `share`: others with this option may listen on the same port.
void PrepareToListen(int socket, bool share);

}  // namespace tutti::server
