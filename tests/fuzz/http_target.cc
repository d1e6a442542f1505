// SPDX-License-Identifier: Apache-2.0
// A request to the embedded API server: "METHOD PATH[?QUERY] CONTENT-TYPE\n" and the body; several, with a line "----"
// between them, to one server.
#include "base/check.h"
#include "base/clock.h"
#include "sim/api_handler.h"
#include "tests/fuzz/target.h"

namespace tutti::sim {
namespace {

std::string_view Cut(std::string_view* text, std::string_view at) {
  const size_t end = text->find(at);
  const std::string_view head = text->substr(0, end);
  text->remove_prefix(end == text->npos ? text->size() : end + at.size());
  return head;
}

HttpRequest Read(std::string_view text) {
  std::string_view line = Cut(&text, "\n");
  HttpRequest request;
  request.method = Cut(&line, " ");
  std::string_view url = Cut(&line, " ");
  request.content_type = line;
  request.accept = line;
  request.path = Cut(&url, "?");
  while (!url.empty()) {
    std::string_view parameter = Cut(&url, "&");
    const std::string_view name = Cut(&parameter, "=");
    request.params.emplace(name, parameter);
  }
  request.body = text;
  return request;
}

}  // namespace
}  // namespace tutti::sim

TUTTI_FUZZ_TARGET(http) {
  using namespace tutti;
  const base::VirtualClock clock(1'800'000'000'000);
  sim::Store store(clock);
  sim::Door door(store);
  sim::ApiHandler handler(door);
  for (int i = 0; i < 8 && !input.empty(); ++i) {
    const sim::HttpResponse response = handler.Handle(sim::Read(sim::Cut(&input, "\n----\n")));
    TUTTI_CHECK(response.code >= 200 && response.code < 600, "an answer that is none");
    TUTTI_CHECK(response.code != 500, "the server blames itself");
  }
  handler.CloseWatches();
}
