// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_transport.h"

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "listener.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

TEST_CASE("what a proxy says of its tunnel is no answer of the server") {
  const Listener proxy(1);
  bool talked = false;
  std::thread serving([&] {
    const int client = accept(proxy.fd(), nullptr, nullptr);
    std::array<char, 4096> asked;
    talked = recv(client, asked.data(), asked.size(), 0) > 0;
    constexpr std::string_view kTunnel = "HTTP/1.1 200 Connection established\r\nRetry-After: 7\r\n\r\n";
    talked = talked && send(client, kTunnel.data(), kTunnel.size(), 0) > 0;
    talked = talked && recv(client, asked.data(), asked.size(), 0) > 0;  // the beginning of a handshake
    close(client);
  });
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "https://api.example:6443";
  config.proxy_url = "http://127.0.0.1:" + std::to_string(proxy.port());
  CurlTransport transport(config, "test", loop);
  Request request;
  request.target = "/ok";
  request.credential = std::make_shared<const Credential>();
  Response answer;
  transport.Send(
      std::move(request),
      [&](Response response) {
        answer = std::move(response);
        loop.Stop();
      },
      nullptr);
  loop.Run();
  serving.join();
  CHECK(talked);
  CHECK(answer.failure != Response::Failure::kNone);
  CHECK(answer.status == 0);
  CHECK(answer.retry_after_ms == -1);
}

}  // namespace
}  // namespace tutti::kube
