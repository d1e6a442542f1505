// SPDX-License-Identifier: Apache-2.0
// Folder: all paths below one, which one function answers by what the sender of the request may see. An answer may be a
// stream that goes on until its reader has enough.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/access.h"

namespace tutti::server {

// The parameters after the "?", decoded.
using Query = std::map<std::string, std::string>;

// Returns the value of the parameter; empty: it is not given.
inline std::string ValueOf(const Query& query, const std::string& name) {
  const auto at = query.find(name);
  return at == query.end() ? std::string() : at->second;
}

inline constexpr const char* kText = "text/plain; charset=utf-8";
inline constexpr const char* kPrometheus = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr const char* kJson = "application/json";
inline constexpr const char* kEvents = "text/event-stream";

// The user of a request without credentials.
inline constexpr const char* kAnonymousUser = "system:anonymous";

// What the sender of a request may see. Thread-safe. Its functions may block for seconds. Error kUnavailable: the API
// server gave no answer.
class Rights {
 public:
  virtual ~Rights() = default;
  // For messages.
  virtual std::string user() const = 0;
  // Tells whether it may do that to objects.
  virtual base::Result<bool> MayAccess(const ResourceAccess& access) const = 0;
  // Tells whether it may list pods in the namespace; empty: in all of them.
  base::Result<bool> MayListPods(std::string_view ns) const {
    return MayAccess({"list", "", "v1", "pods", "", std::string(ns), ""});
  }
  // Tells whether it may get the path, which has no query.
  virtual base::Result<bool> MayGet(std::string_view path) const = 0;
};

// May see everything.
class AllRights final : public Rights {
 public:
  std::string user() const override { return "system:masters"; }
  base::Result<bool> MayAccess(const ResourceAccess&) const override { return true; }
  base::Result<bool> MayGet(std::string_view) const override { return true; }
};

// The body of an answer, as it comes. One thread.
class Stream {
 public:
  virtual ~Stream() = default;
  // Returns the next piece; empty: there was none within `patience`; nullopt: it has ended. A stream that has nothing
  // to say sends a piece from time to time all the same, so that a reader that has gone is noticed.
  virtual std::optional<std::string> Next(std::chrono::milliseconds patience) = 0;
};

struct FolderRequest {
  std::string path;  // decoded, without the query
  Query query;
  std::shared_ptr<const Rights> rights;  // never null
  std::string last_event_id = {};        // of a reader of events that comes again
  std::string method = "GET";            // or "POST"
  std::string body = {};                 // of a POST
};

struct FolderAnswer {
  int status = 200;
  std::string body;
  const char* type = kJson;  // of the body, whatever the status is
  std::shared_ptr<Stream> stream = nullptr;  // set: it is the body
};

struct Folder {
  // A body may have so many bytes.
  static constexpr size_t kMostBody = size_t{1} << 20;

  std::string prefix;  // "/apis/tutti/v1/"
  std::function<FolderAnswer(const FolderRequest&)> answer;
  // The paths that take a POST of JSON. It changes nothing: it is a question that is too long for a query.
  std::vector<std::string> questions = {};
};

}  // namespace tutti::server
