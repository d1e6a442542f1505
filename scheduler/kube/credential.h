// SPDX-License-Identifier: Apache-2.0
// Credential: proves to the API server which user sends a request. It is secret and never logged.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::kube {

struct Credential {
  std::string authorization;  // the header's value; empty: none
  std::string client_cert_pem, client_key_pem;
  std::vector<std::pair<std::string, std::string>> impersonation;  // headers, as in Config
  uint64_t generation = 0;                                         // counts changes of the credential, from 1
};

}  // namespace tutti::kube
