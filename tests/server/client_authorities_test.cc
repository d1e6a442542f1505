// SPDX-License-Identifier: Apache-2.0
#include "server/client_authorities.h"

#include <fstream>
#include <future>

#include "rig.h"

namespace tutti::server {
namespace {

// Client certificates of the cluster's authority, and such as only look so.
class ClientCertificates {
 public:
  ClientCertificates() {
    Run(kMake + "-subj /CN=ca" + Pair("ca"));
    Run(kMake + "-subj /CN=other-ca" + Pair("other-ca"));
    Sign("master", "/O=system:masters/CN=root", "ca", "clientAuth");
    Sign("prometheus", "/CN=prometheus", "ca", "clientAuth");
    Sign("forged", "/O=system:masters/CN=root", "other-ca", "clientAuth");
    Sign("server", "/O=system:masters/CN=root", "ca", "serverAuth");
  }

  base::Result<std::string> Authority() const {
    std::ifstream file(folder_.File("ca.crt"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  // What `name` is answered.
  int Status(int port, const std::string& name, const char* path, const char* token = "") const {
    httplib::SSLClient client("127.0.0.1", port, folder_.File(name + ".crt"), folder_.File(name + ".key"));
    client.enable_server_certificate_verification(false);
    httplib::Headers headers;
    if (*token) headers.emplace("Authorization", std::string("Bearer ") + token);
    const auto answer = client.Get(path, headers);
    return answer ? answer->status : -1;
  }

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

TEST_CASE("a client certificate of the cluster's client CA names its user") {
  const ClientCertificates certificates;
  std::string problem;
  Reviewer reviewer;
  std::atomic<int> reads = 0;
  const base::SystemClock clock;
  const auto server = Server::Start(OnLoopback(), SomePages(&problem), clock, &reviewer, [&] {
    ++reads;
    return certificates.Authority();
  });
  REQUIRE(server);
  const auto status = [&](const std::string& name, const char* path, const char* token = "") {
    return certificates.Status((*server)->port(), name, path, token);
  };
  CHECK(Get((*server)->port(), "/metrics", "prometheus")->status == 200);
  CHECK(reads == 0);
  CHECK(status("master", "/debug/decisions") == 200);
  CHECK(status("prometheus", "/metrics") == 200);
  CHECK(status("prometheus", "/configz") == 403);
  CHECK(status("forged", "/metrics") == 401);
  CHECK(status("forged", "/metrics", "prometheus") == 200);
  CHECK(status("server", "/metrics") == 401);
  CHECK(status("forged", "/livez") == 200);
  CHECK(reads == 1);
}

TEST_CASE("while the client CA was never read a certificate is neither trusted nor refused, and it is soon asked for") {
  const ClientCertificates certificates;
  std::string problem;
  Reviewer reviewer;
  std::atomic<int> reads = 0;
  SkippingClock clock;
  const auto server = Server::Start(OnLoopback(), SomePages(&problem), clock, &reviewer, [&] {
    if (++reads > 1) return certificates.Authority();
    return base::Result<std::string>(base::Fail(base::ErrorCode::kUnavailable, "down"));
  });
  REQUIRE(server);
  const auto status = [&](const char* token = "") {
    return certificates.Status((*server)->port(), "master", "/metrics", token);
  };
  CHECK(status() == 500);
  clock.Skip(1'000);
  CHECK(status() == 200);
  CHECK(reads == 2);
}

TEST_CASE("the client CA is read by one at a time, and the others go by what is known") {
  const ClientCertificates certificates;
  std::string problem;
  std::atomic<int> reads = 0;
  std::promise<void> second_began, second_may_end;
  SkippingClock clock;
  const auto server = Server::Start(OnLoopback(), SomePages(&problem), clock, nullptr, [&] {
    if (++reads == 2) {
      second_began.set_value();
      second_may_end.get_future().wait();
    }
    return certificates.Authority();
  });
  REQUIRE(server);
  const auto status = [&] { return certificates.Status((*server)->port(), "master", "/metrics"); };
  CHECK(status() == 200);
  clock.Skip(60'000);
  auto who_reads = std::async(std::launch::async, status);
  second_began.get_future().wait();
  CHECK(status() == 200);
  CHECK(reads == 2);
  second_may_end.set_value();
  CHECK(who_reads.get() == 200);
  CHECK(status() == 200);
  CHECK(reads == 2);
}

}  // namespace
}  // namespace tutti::server
