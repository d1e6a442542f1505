// SPDX-License-Identifier: Apache-2.0
// sim/api/beside.h - paths beside the Kubernetes API that the same port serves.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::sim {

// A body as it comes: the next piece, "" when nothing came within that time, or nothing at the end.
using Pieces = std::function<std::optional<std::string>(std::chrono::milliseconds)>;

struct BesideRequest {
  std::string method, path;  // decoded, without the query
  std::multimap<std::string, std::string> params;
  std::string last_event_id;  // of a reader of events that comes again
  std::string body = {};
};

struct BesideAnswer {
  int code = 200;
  std::string content_type, body;
  Pieces pieces = nullptr;  // set: they are the body
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Answers requests that are none to the API, from any thread; nullopt: the API answers. May be empty.
using Beside = std::function<std::optional<BesideAnswer>(const BesideRequest&)>;

}  // namespace tutti::sim
