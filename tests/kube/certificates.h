// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made by the openssl command.
#pragma once

#include <cstdlib>
#include <string>

#include "folder.h"
#include "tests/support/catch.h"

namespace tutti::kube {

// Makes NAME.crt and NAME.key, for 127.0.0.1. They are signed by the pair ISSUER in the same folder, or by themselves.
inline void MakeCertificate(const Folder& folder, const std::string& name, const std::string& issuer = "") {
  std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "
      "-addext subjectAltName=IP:127.0.0.1 -subj /CN=" +
      name + " -out " + folder.At(name + ".crt") + " -keyout " + folder.At(name + ".key");
  if (!issuer.empty()) command += " -CA " + folder.At(issuer + ".crt") + " -CAkey " + folder.At(issuer + ".key");
  REQUIRE(std::system((command + " 2>/dev/null").c_str()) == 0);
}

}  // namespace tutti::kube
