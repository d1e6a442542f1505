// SPDX-License-Identifier: Apache-2.0
// A request to the embedded API server: "METHOD PATH[?QUERY] CONTENT-TYPE\n" and the body; several, with a line "----"
// between them, to one server. What is read or refused changes nothing, a refusal is a Status, and a watch is made of
// events.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "sim/api/api_handler.h"
#include "sim/api/watch_stream.h"
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
  // The answer's form is chosen by the same words, but for bodies that no answer comes in.
  if (line.find("as=") != line.npos || request.method == "GET") request.accept = line;
  request.path = Cut(&url, "?");
  while (!url.empty()) {
    std::string_view parameter = Cut(&url, "&");
    const std::string_view name = Cut(&parameter, "=");
    request.params.emplace(name, parameter);
  }
  request.body = text;
  return request;
}

void CheckAnswer(const HttpResponse& response) {
  TUTTI_CHECK(response.code >= 200 && response.code < 600, "an answer that is none");
  TUTTI_CHECK(response.code != 500, "the server blames itself");
  if (response.watch || response.body.empty() || !response.content_type.starts_with("application/json")) {
    TUTTI_CHECK(response.code < 400 || response.code == 404, "a refusal without a Status");
    return;
  }
  const Json body = Json::parse(response.body, nullptr, false);
  TUTTI_CHECK(body.is_object(), "an answer that is no JSON object");
  if (response.code < 400) return;
  TUTTI_CHECK(DigString(body, "kind") == "Status" && DigString(body, "status") == "Failure",
              "a refusal, but no Status");
  TUTTI_CHECK(IntOf(Child(body, "code")) == response.code, "a Status of another code");
  TUTTI_CHECK(!DigString(body, "message").empty(), "a refusal without a reason");
}

void CheckEvents(std::string_view lines) {
  while (!lines.empty()) {
    const Json event = Json::parse(Cut(&lines, "\n"), nullptr, false);
    const std::string& type = DigString(event, "type");
    constexpr std::string_view kTypes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    TUTTI_CHECK(std::ranges::find(kTypes, type) != std::end(kTypes), "a line of a watch that is no event");
    TUTTI_CHECK(Child(event, "object").is_object(), "an event without its object");
  }
}

void Drain(WatchStream& watch) {
  for (auto piece = watch.Next({}); piece && !piece->empty(); piece = watch.Next({})) CheckEvents(*piece);
}

}  // namespace
}  // namespace tutti::sim

TUTTI_FUZZ_TARGET(http) {
  using namespace tutti;
  const base::VirtualClock clock(1'800'000'000'000);
  sim::Store store(clock);
  sim::Door door(store);
  sim::ApiHandler handler(door);
  std::vector<std::shared_ptr<sim::WatchStream>> watches;
  for (int i = 0; i < 8 && !input.empty(); ++i) {
    const sim::HttpRequest request = sim::Read(sim::Cut(&input, "\n----\n"));
    const int64_t before = store.resource_version();
    const sim::HttpResponse response = handler.Handle(request);
    sim::CheckAnswer(response);
    const bool reads = request.method == "GET" || response.code >= 400 || request.Param("dryRun") == "All";
    TUTTI_CHECK(!reads || store.resource_version() == before, "what is read or refused has changed something");
    if (response.watch) watches.push_back(response.watch);
  }
  for (const auto& watch : watches) sim::Drain(*watch);
  handler.CloseWatches();
  for (const auto& watch : watches) sim::Drain(*watch);
}
