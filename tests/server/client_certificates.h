// SPDX-License-Identifier: Apache-2.0
// ClientCertificates: files NAME.crt and NAME.key of clients that the cluster's authority vouches for, and of such as
// only look so.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/server/rig.h"

namespace tutti::server {

class ClientCertificates {
 public:
  ClientCertificates() {
    Run(kMake + "-subj /CN=ca" + Pair("ca"));
    Run(kMake + "-subj /CN=other-ca" + Pair("other-ca"));
    Sign("master", "/O=system:masters/CN=root", "ca", "clientAuth");
    Sign("prometheus", "/CN=prometheus", "ca", "clientAuth");
    Sign("forged", "/O=system:masters/CN=root", "other-ca", "clientAuth");
    Sign("server", "/O=system:masters/CN=root", "ca", "serverAuth");
    Sign("proxy", "/CN=front-proxy", "other-ca", "clientAuth");
    Sign("no-proxy", "/CN=another", "other-ca", "clientAuth");
    Sign("no-proxy-either", "/CN=front-proxy", "ca", "clientAuth");
  }

  std::string File(const std::string& name) const { return folder_.File(name); }
  std::string Text(const std::string& name) const {
    std::ifstream file(File(name));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  base::Result<ClientAuthorities::Trust> Authority() const { return ClientAuthorities::Trust{Text("ca.crt")}; }

 private:
  static inline const std::string kMake =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 ";

  static void Run(const std::string& command) { REQUIRE(std::system((command + " 2>/dev/null").c_str()) == 0); }
  std::string Pair(const std::string& name) const {
    return " -out " + folder_.File(name + ".crt") + " -keyout " + folder_.File(name + ".key");
  }
  void Sign(const std::string& name, const std::string& subject, const std::string& ca, const std::string& use) const {
    Run(kMake + "-subj " + subject + Pair(name) + " -CA " + folder_.File(ca + ".crt") + " -CAkey " +
        folder_.File(ca + ".key") + " -addext basicConstraints=critical,CA:FALSE -addext extendedKeyUsage=" + use);
  }

  const TempFolder folder_;
};

}  // namespace tutti::server
