// SPDX-License-Identifier: Apache-2.0
#include "server/client_authorities.h"

#include <atomic>
#include <future>

#include "client_certificates.h"

namespace tutti::server {
namespace {

// What the client of that certificate is answered.
int StatusOf(const ClientCertificates& certificates, int port, const std::string& name, const char* path,
             const char* token = "") {
  httplib::SSLClient client("127.0.0.1", port, certificates.File(name + ".crt"), certificates.File(name + ".key"));
  client.enable_server_certificate_verification(false);
  httplib::Headers headers;
  if (*token) headers.emplace("Authorization", std::string("Bearer ") + token);
  const auto answer = client.Get(path, headers);
  return answer ? answer->status : -1;
}

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
    return StatusOf(certificates, (*server)->port(), name, path, token);
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
    return base::Result<ClientAuthorities::Trust>(base::Fail(base::ErrorCode::kUnavailable, "down"));
  });
  REQUIRE(server);
  const auto status = [&](const char* token = "") {
    return StatusOf(certificates, (*server)->port(), "master", "/metrics", token);
  };
  CHECK(status() == 500);
  clock.Skip(1'000);
  CHECK(status() == 200);
  CHECK(reads == 2);
}

TEST_CASE("the front proxy names the user of a request in headers, and no other client may") {
  const ClientCertificates certificates;
  std::string problem;
  Reviewer reviewer;
  std::atomic<int> reads = 0;
  SkippingClock clock;
  const auto server = Server::Start(OnLoopback(), SomePages(&problem), clock, &reviewer, [&] {
    auto trust = certificates.Authority();
    if (++reads == 1)
      trust->proxy = FrontProxy{certificates.Text("other-ca.crt"), {"front-proxy"}, {"X-Remote-User"}, {"X-Remote-Uid"},
                                {"X-Remote-Group"}, {"X-Remote-Extra-"}};
    if (reads > 2) trust->proxy = FrontProxy{};
    return trust;
  });
  REQUIRE(server);
  const auto status = [&](const std::string& name, const httplib::Headers& headers, const char* path = "/metrics") {
    httplib::SSLClient client("127.0.0.1", (*server)->port(), certificates.File(name + ".crt"),
                              certificates.File(name + ".key"));
    client.enable_server_certificate_verification(false);
    const auto answer = client.Get(path, headers);
    return answer ? answer->status : -1;
  };
  const httplib::Headers prometheus{{"x-remote-user", "prometheus"}}, dev{{"X-Remote-User", "dev"}};
  const httplib::Headers masters{{"X-Remote-User", "dev"}, {"X-Remote-Group", "a"}, {"X-Remote-Group", "system:masters"}};
  CHECK(status("proxy", prometheus) == 200);
  CHECK(status("proxy", prometheus, "/configz") == 403);
  CHECK(status("proxy", dev) == 403);
  CHECK(status("proxy", masters, "/configz") == 200);
  CHECK(status("proxy", {{"X-Remote-User", "prometheu%73"}}) == 403);  // it means what it says
  CHECK(status("proxy", {{"X-Remote-User", "dev"}, {"X-Remote-Group", "system%3Amasters"}}, "/configz") == 403);
  CHECK(status("proxy", {}) == 401);
  CHECK(status("proxy", {{"Authorization", "Bearer prometheus"}}) == 200);
  for (const char* other : {"no-proxy", "forged"}) CHECK(status(other, masters) == 401);
  CHECK(status("no-proxy-either", masters) == 403);  // a user of that name, without a right
  CHECK(Get((*server)->port(), "/metrics")->status == 403);
  httplib::SSLClient without("127.0.0.1", (*server)->port());
  without.enable_server_certificate_verification(false);
  CHECK(without.Get("/metrics", masters)->status == 403);
  clock.Skip(60'000);
  CHECK(status("proxy", prometheus) == 200);  // it could not be read again, and stays
  clock.Skip(60'000);
  CHECK(status("proxy", prometheus) == 401);  // there is none any more
}

TEST_CASE("headers of the front proxy name a user with its UID, groups and extras") {
  FrontProxy proxy{"", {}, {"X-Remote-User", "X-User"}, {"X-Remote-Uid"}, {"X-Remote-Group"}, {"X-Remote-Extra-"}};
  CHECK_FALSE(UserIn({{"X-Remote-Group", "a"}, {"X-Remote-User", ""}}, proxy));
  CHECK(UserIn({{"X-User", "second"}, {"X-Remote-User", "first"}}, proxy)->name == "first");
  CHECK(*UserIn({{"x-remote-user", "dev"},
                 {"X-Remote-Uid", "7"},
                 {"X-Remote-Group", "a"},
                 {"X-Remote-Group", ""},
                 {"X-REMOTE-GROUP", "b"},
                 {"X-Remote-Extra-Acme.com%2Fproject", "p"},
                 {"X-Remote-Extra-Bad%2", "q"},
                 {"X-Remote-Extra-Scopes", "r"},
                 {"X-Remote-Extra-Scopes", "s"},
                 {"X-Other", "t"}},
                proxy) ==
        User{"dev", "7", {"a", "b"}, {{"acme.com/project", {"p"}}, {"bad%2", {"q"}}, {"scopes", {"r", "s"}}}});
  CHECK(proxy.HasName("any"));
  proxy.names = {"front-proxy"};
  CHECK(proxy.HasName("front-proxy"));
  CHECK_FALSE(proxy.HasName("any"));
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
  const auto status = [&] { return StatusOf(certificates, (*server)->port(), "master", "/metrics"); };
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
