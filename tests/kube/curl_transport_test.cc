// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_transport.h"

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "certificates.h"
#include "http2_server.h"
#include "listener.h"
#include "skipping_clock.h"
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

TEST_CASE("a request over HTTP/1.1 names the user that it impersonates") {
  const Listener listener(1);
  std::string asked;
  std::thread serving([&] {
    const int client = accept(listener.fd(), nullptr, nullptr);
    std::array<char, 4096> text;
    const ssize_t size = recv(client, text.data(), text.size(), 0);
    if (size > 0) asked.assign(text.data(), static_cast<size_t>(size));
    close(client);
  });
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "http://127.0.0.1:" + std::to_string(listener.port());
  CurlTransport transport(config, "test", loop);
  auto credential = std::make_shared<Credential>();
  credential->impersonation = {{"impersonate-user", "robot"}, {"impersonate-group", "a"}, {"impersonate-uid", ""}};
  Request request;
  request.target = "/ok";
  request.credential = credential;
  transport.Send(std::move(request), [&](const Response&) { loop.Stop(); }, nullptr);
  loop.Run();
  serving.join();
  CHECK(asked.find("impersonate-user: robot\r\nimpersonate-group: a\r\nimpersonate-uid:\r\n") != std::string::npos);
}

// Sends `request` to a server that reads it once, says `answer` and hangs up; *asked is what it read.
Response Ask(Request request, std::string_view answer, std::string* asked) {
  const Listener listener(1);
  std::thread serving([&] {
    const int client = accept(listener.fd(), nullptr, nullptr);
    std::array<char, 4096> text;
    const ssize_t size = recv(client, text.data(), text.size(), 0);
    if (size > 0) asked->assign(text.data(), static_cast<size_t>(size));
    if (size > 0) send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    close(client);
  });
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "http://127.0.0.1:" + std::to_string(listener.port());
  CurlTransport transport(config, "test", loop);
  request.credential = std::make_shared<const Credential>();
  Response got;
  transport.Send(
      std::move(request),
      [&](Response response) {
        got = std::move(response);
        loop.Stop();
      },
      nullptr);
  loop.Run();
  serving.join();
  return got;
}

Request Post() {
  Request request;
  request.method = Method::kPost;
  request.target = "/ok";
  request.body = "x";
  return request;
}

TEST_CASE("over HTTP/1.1 too, a request whose time to leave is over does not leave") {
  std::string asked;
  Request late = Post();
  late.not_after_ms = base::SystemClock().MonotonicMs() - 1;
  CHECK(Ask(late, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &asked).failure == Response::Failure::kNotSent);
  CHECK(asked.empty());
  late.not_after_ms += 60'000;
  CHECK(Ask(late, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &asked).ok());
}

TEST_CASE("over HTTP/1.1 too, a server that only said that an answer would come has not decided") {
  std::string asked;
  const Response answer = Ask(Post(), "HTTP/1.1 102 Processing\r\n\r\n", &asked);
  CHECK_FALSE(asked.empty());
  CHECK(answer.failure == Response::Failure::kLost);
  CHECK(answer.status == 0);
}

TEST_CASE("a request that left on a connection used again may have happened, though no other could be made for it") {
  const Listener listener(1);
  bool left = false;
  std::thread serving([&] {
    const int client = accept(listener.fd(), nullptr, nullptr);
    std::array<char, 4096> text;
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    if (recv(client, text.data(), text.size(), 0) > 0) send(client, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    left = recv(client, text.data(), text.size(), 0) > 0;
    shutdown(listener.fd(), SHUT_RDWR);
    close(client);
  });
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "http://127.0.0.1:" + std::to_string(listener.port());
  CurlTransport transport(config, "test", loop);
  Request request = Post();
  request.credential = std::make_shared<const Credential>();
  Response first, second;
  transport.Send(
      request,
      [&](Response response) {
        first = std::move(response);
        transport.Send(
            request,
            [&](Response next) {
              second = std::move(next);
              loop.Stop();
            },
            nullptr);
      },
      nullptr);
  loop.Run();
  serving.join();
  CHECK(first.ok());
  CHECK(left);
  CHECK(second.failure == Response::Failure::kLost);
}

TEST_CASE("over this transport too, a connection is made with the authorities that their file holds then") {
  const Folder folder;
  MakeCertificate(folder, "old");
  MakeCertificate(folder, "new");
  auto certificate = server::Certificate::Load({folder.At("new.crt"), folder.At("new.key")});
  REQUIRE(certificate);
  const Http2Server server("h2", *certificate);
  Config config;
  config.server = server.url();
  config.ca_pem = *base::ReadFile(folder.At("old.crt"));
  config.ca_file = folder.Write("ca.crt", config.ca_pem);
  SkippingClock clock;
  EpollLoop loop(clock);
  CurlTransport transport(config, "test", loop);
  std::vector<Response> answers;
  const auto ask = [&](OnDone done) {
    Request request;
    request.target = "/ok";
    request.credential = std::make_shared<const Credential>();
    transport.Send(std::move(request), std::move(done), nullptr);
  };
  ask([&](Response refused) {
    answers.push_back(std::move(refused));
    folder.Write("ca.crt", *base::ReadFile(folder.At("new.crt")));
    clock.Skip(1'000);
    ask([&](Response answer) {
      answers.push_back(std::move(answer));
      loop.Stop();
    });
  });
  loop.Run();
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].failure == Response::Failure::kNotSent);
  INFO(answers[1].error);
  CHECK(answers[1].ok());
}

TEST_CASE("a SOCKS proxy is told names, which it may know better than this machine") {
  const Listener proxy(1);
  std::string asked;
  std::thread serving([&] {
    proxy.WaitForOne();
    const int client = accept(proxy.fd(), nullptr, nullptr);
    std::array<char, 256> text;
    constexpr std::string_view kNoPassword("\x05\x00", 2);
    if (recv(client, text.data(), text.size(), 0) > 0) send(client, kNoPassword.data(), kNoPassword.size(), 0);
    if (const ssize_t size = recv(client, text.data(), text.size(), 0); size > 0)
      asked.assign(text.data(), static_cast<size_t>(size));
    close(client);
  });
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "https://api.cluster.invalid:6443";
  config.proxy_url = "socks5://127.0.0.1:" + std::to_string(proxy.port());
  CurlTransport transport(config, "test", loop);
  Request request;
  request.target = "/ok";
  request.credential = std::make_shared<const Credential>();
  transport.Send(std::move(request), [&](const Response&) { loop.Stop(); }, nullptr);
  loop.Run();
  shutdown(proxy.fd(), SHUT_RDWR);
  serving.join();
  CHECK(asked.find("api.cluster.invalid") != std::string::npos);
}

}  // namespace
}  // namespace tutti::kube
