// SPDX-License-Identifier: Apache-2.0
#include "server/client_authorities.h"

#include <atomic>
#include <functional>
#include <future>
#include <memory>

#include "client_certificates.h"
#include "server/header_escaper.h"

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

// A server that reads its authorities by a function of the test.
struct Served {
  using Trust = base::Result<ClientAuthorities::Trust>;
  explicit Served(std::function<Trust(const ClientCertificates&, int read)> read)
      : server(Server::Start(OnLoopback(), SomePages(&problem), clock, &reviewer,
                             [this, read] { return read(certificates, ++reads); })) {
    REQUIRE(server);
  }
  int port() const { return (*server)->port(); }

  const ClientCertificates certificates;
  std::string problem;
  Reviewer reviewer;
  std::atomic<int> reads = 0;  // so far
  SkippingClock clock;
  const base::Result<std::unique_ptr<Server>> server;
};

TEST_CASE("a client certificate of the cluster's client CA names its user") {
  Served served([](const ClientCertificates& certificates, int) { return certificates.Authority(); });
  const auto status = [&](const std::string& name, const char* path, const char* token = "") {
    return StatusOf(served.certificates, served.port(), name, path, token);
  };
  CHECK(Get(served.port(), "/metrics", "prometheus")->status == 200);
  CHECK(served.reads == 0);
  CHECK(status("master", "/debug/decisions") == 200);
  CHECK(status("prometheus", "/metrics") == 200);
  CHECK(status("prometheus", "/configz") == 403);
  CHECK(status("forged", "/metrics") == 401);
  CHECK(status("forged", "/metrics", "prometheus") == 200);
  CHECK(status("server", "/metrics") == 401);
  CHECK(status("forged", "/livez") == 200);
  CHECK(served.reads == 1);
}

TEST_CASE("while the client CA was never read a certificate is neither trusted nor refused, and it is soon asked for") {
  Served served([](const ClientCertificates& certificates, int read) {
    return read > 1 ? certificates.Authority() : Served::Trust(base::Fail(base::ErrorCode::kUnavailable, "down"));
  });
  const auto status = [&](const char* token = "") {
    return StatusOf(served.certificates, served.port(), "master", "/metrics", token);
  };
  CHECK(status() == 500);
  served.clock.Skip(1'000);
  CHECK(status() == 200);
  CHECK(served.reads == 2);
}

TEST_CASE("the front proxy names the user of a request in headers, and no other client may") {
  Served served([](const ClientCertificates& certificates, int read) {
    auto trust = certificates.Authority();
    if (read == 1)
      trust->proxy = FrontProxy{certificates.Text("other-ca.crt"), {"front-proxy"}, {"X-Remote-User"}, {"X-Remote-Uid"},
                                {"X-Remote-Group"}, {"X-Remote-Extra-"}};
    if (read > 2) trust->proxy = FrontProxy{};
    return trust;
  });
  const auto status = [&](const std::string& name, const httplib::Headers& headers, const char* path = "/metrics") {
    httplib::SSLClient client("127.0.0.1", served.port(), served.certificates.File(name + ".crt"),
                              served.certificates.File(name + ".key"));
    client.enable_server_certificate_verification(false);
    const auto answer = client.Get(path, headers);
    return answer ? answer->status : -1;
  };
  const httplib::Headers prometheus{{"x-remote-user", "prometheus"}}, dev{{"X-Remote-User", "dev"}};
  const httplib::Headers masters{
      {"X-Remote-User", "dev"}, {"X-Remote-Group", "a"}, {"X-Remote-Group", "system:masters"}};
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
  CHECK(Get(served.port(), "/metrics")->status == 403);
  httplib::SSLClient without("127.0.0.1", served.port());
  without.enable_server_certificate_verification(false);
  CHECK(without.Get("/metrics", masters)->status == 403);
  served.clock.Skip(60'000);
  CHECK(status("proxy", prometheus) == 200);  // it could not be read again, and stays
  served.clock.Skip(60'000);
  CHECK(status("proxy", prometheus) == 401);  // there is none any more
}

TEST_CASE("percent signs in values of header fields are escaped, and nothing else is") {
  const auto escaped = [](std::string_view request) {
    HeaderEscaper escaper;
    std::string out;
    for (const char byte : request) out.append(1, byte).append(escaper.After(byte));
    return out;
  };
  CHECK(escaped("GET /a%20b:%20 HTTP/1.1\r\nX%41: a%41:%42\r\nY: %\r\n\r\n%41: %42\r\n") ==
        "GET /a%20b:%20 HTTP/1.1\r\nX%41: a%2541:%2542\r\nY: %25\r\n\r\n%41: %42\r\n");
  for (const std::string line : {"\n", "\r\r\n", " \r\n"})  // no end of the fields
    CHECK(escaped("GET / HTTP/1.1\r\n" + line + "X: %41\r\n") == "GET / HTTP/1.1\r\n" + line + "X: %2541\r\n");
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
