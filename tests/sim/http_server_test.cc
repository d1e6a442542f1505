// SPDX-License-Identifier: Apache-2.0
#include "sim/api/http_server.h"

#include <httplib.h>

#include <atomic>
#include <thread>

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;
using std::chrono::steady_clock;

struct Served {
  base::SystemClock clock;
  Store store{clock};
  Door door{store};
  HttpServer server{door};

  Served() { REQUIRE(server.Start("127.0.0.1", 0)); }

  httplib::Client Client() const {
    httplib::Client client("127.0.0.1", server.port());
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    client.set_read_timeout(30);
    return client;
  }
};

const std::string kConfigMapsPath = "/api/v1/namespaces/default/configmaps";

// Reads a watch on a thread of its own until it ends or `enough` lines have come.
class Watcher {
 public:
  Watcher(const Served& served, const std::string& target, int enough)
      : client_(served.Client()), thread_([this, target, enough] {
          client_.Get(target, [this, enough](const char* data, size_t size) {
            for (size_t i = 0; i < size; ++i) lines_ += data[i] == '\n';
            return lines_ < enough;
          });
          ended_ = true;
        }) {}
  ~Watcher() {
    client_.stop();
    thread_.join();
  }
  int lines() const { return lines_; }
  bool ended() const { return ended_; }

 private:
  httplib::Client client_;
  std::atomic<int> lines_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

bool Eventually(const std::function<bool()>& holds) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_CASE("an IPv6 address is in brackets where kubectl reads it, and may be where it is given") {
  for (const char* host : {"::1", "[::1]"}) {
    INFO(host);
    base::SystemClock clock;
    Store store{clock};
    Door door{store};
    HttpServer server{door};
    const base::Status started = server.Start(host, 0);
    if (!started) {
      WARN("no IPv6 here: " << started.error().message);
      return;
    }
    CHECK(server.url() == fmt::format("http://[::1]:{}", server.port()));
    CHECK(httplib::Client("::1", server.port()).Get("/healthz"));
  }
}

TEST_CASE("sixty watches and sixty-four writers at once are all served") {
  Served served;
  constexpr int kWriters = 64, kEach = 10;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 60; ++i) {
    watchers.push_back(std::make_unique<Watcher>(served, kConfigMapsPath + "?watch=true", kWriters * kEach));
  }
  std::vector<std::thread> writers;
  std::atomic<int> failed = 0;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      httplib::Client client = served.Client();
      for (int k = 0; k < kEach; ++k) {
        const Json object = {{"metadata", {{"name", "c" + std::to_string(i) + "-" + std::to_string(k)}}}};
        const auto answer = client.Post(kConfigMapsPath, object.dump(), "application/json");
        if (!answer || answer->status != 201) ++failed;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failed == 0);
  for (const auto& watcher : watchers) {
    CHECK(Eventually([&] { return watcher->lines() == kWriters * kEach; }));
  }
}

TEST_CASE("stopping ends open watches and idle connections at once") {
  auto served = std::make_unique<Served>();
  Watcher watcher(*served, kConfigMapsPath + "?watch=true", 100);
  httplib::Client idle = served->Client();
  CHECK(idle.Get("/readyz")->status == 200);
  Make(served->store, ConfigMap("c"));
  REQUIRE(Eventually([&] { return watcher.lines() == 1; }));
  const auto began = steady_clock::now();
  served->server.Stop();
  CHECK(steady_clock::now() - began < std::chrono::seconds(3));
  CHECK(Eventually([&] { return watcher.ended(); }));
}

TEST_CASE("answers are not compressed into watches, and HEAD and odd methods do no harm") {
  Served served;
  httplib::Client client = served.Client();
  CHECK(client.Head("/api/v1/namespaces")->status == 200);
  CHECK(client.Options("/api/v1/namespaces")->status == 404);
  client.set_decompress(false);
  std::string first;
  Make(served.store, ConfigMap("c"));
  client.Get(kConfigMapsPath + "?watch=true", {{"Accept-Encoding", "gzip"}}, [&](const char* data, size_t size) {
    first.assign(data, size);
    return false;
  });
  CHECK(Json::parse(first)["type"] == "ADDED");
}

TEST_CASE("a port that is taken is an error that says so") {
  Served served;
  HttpServer second(served.door);
  const auto started = second.Start("127.0.0.1", served.server.port());
  REQUIRE_FALSE(started);
  CHECK_THAT(started.error().message, Catch::Contains("cannot listen on 127.0.0.1:"));
}

}  // namespace
}  // namespace tutti::sim
