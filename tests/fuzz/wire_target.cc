// SPDX-License-Identifier: Apache-2.0
// The bytes of one connection to the embedded API server, as the HTTP library hands them on: every answer is whole, and
// has no header but the server's own.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "sim/api/http_listener.h"
#include "tests/fuzz/target.h"

namespace tutti::sim {
namespace {

// A client that has sent all it ever will, and goes away once a watch has nothing more for it.
class Wire final : public httplib::Stream {
 public:
  explicit Wire(std::string_view sent) : sent_(sent) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return patience_-- > 0; }
  ssize_t read(char* to, size_t size) override {
    const size_t count = std::min(size, sent_.size());
    std::memcpy(to, sent_.data(), count);
    sent_.remove_prefix(count);
    return ssize_t(count);
  }
  ssize_t write(const char* from, size_t size) override {
    received_.append(from, size);
    return ssize_t(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }

  bool done() const { return sent_.empty(); }
  std::string Take() {
    patience_ = kPatience;
    return std::exchange(received_, {});
  }

 private:
  static constexpr int kPatience = 64;
  std::string_view sent_;
  std::string received_;
  mutable int patience_ = kPatience;
};

bool Is(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return std::tolower(x) == std::tolower(y); });
}

void CheckHeader(std::string_view line) {
  constexpr std::string_view kOurs[] = {
      "Accept-Ranges", "Connection", "Content-Encoding",  "Content-Length", "Content-Range", "Content-Type",
      "ETag",          "Keep-Alive", "Transfer-Encoding", "Vary",           "Warning"};
  const std::string_view name = line.substr(0, line.find(':'));
  TUTTI_CHECK(std::ranges::any_of(kOurs, [&](std::string_view ours) { return Is(name, ours); }), name);
  TUTTI_CHECK(std::ranges::none_of(line, [](unsigned char c) { return c < 0x20; }), "a header that is no line");
}

// "HTTP/1.1 200 OK", headers, an empty line, the body.
void CheckAnswer(std::string_view answer) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  while (!answer.empty()) {
    TUTTI_CHECK(answer.starts_with(kVersion), "an answer that does not begin as one");
    int code = 0;
    std::from_chars(answer.data() + kVersion.size(), answer.data() + answer.size(), code);
    TUTTI_CHECK(code >= 100 && code < 600 && code != 500, "a status that is none");
    const size_t end = answer.find("\r\n\r\n");
    TUTTI_CHECK(end != answer.npos, "headers without an end");
    std::string_view headers = answer.substr(0, end);
    answer.remove_prefix(end + 4);
    headers.remove_prefix(std::min(headers.find("\r\n"), headers.size()));
    while (headers.starts_with("\r\n")) {
      headers.remove_prefix(2);
      const std::string_view line = headers.substr(0, headers.find("\r\n"));
      CheckHeader(line);
      headers.remove_prefix(line.size());
    }
    if (code != 100) break;  // "go on" comes before the answer
  }
}

}  // namespace
}  // namespace tutti::sim

TUTTI_FUZZ_TARGET(wire) {
  using namespace tutti;
  const base::VirtualClock clock(1'800'000'000'000);
  sim::Store store(clock);
  sim::Door door(store);
  sim::ApiHandler handler(door);
  sim::HttpListener listener(handler, std::chrono::milliseconds(0));
  sim::Wire wire(input);
  for (bool more = true; more && !wire.done();) {
    more = listener.ServeOne(wire);
    sim::CheckAnswer(wire.Take());
  }
  handler.CloseWatches();
}
