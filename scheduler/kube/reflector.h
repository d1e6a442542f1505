// SPDX-License-Identifier: Apache-2.0
// Reflector: keeps one KindStore equal to the API server's objects, by a list and then a watch. The loop's thread only.
//
//   list: streamed (sendInitialEvents) where the server supports that, else in pages. A server that ignores
//         sendInitialEvents is known by its silence, or by a bookmark that is not the list's end
//   watch: from the last resourceVersion seen, bookmarks included; ended by the server after 5 to 10 minutes
//   410: list again. 429: when the server says. Anything else: backoff with jitter, 0.8 to 30 s
//   A watch that is silent for too long is taken for dead. One that cannot be read is ended, and all is listed again
#pragma once

#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>

#include "base/log.h"
#include "base/random.h"
#include "kube/kind_store.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"

namespace tutti::kube {

class Reflector {
 public:
  static constexpr base::Millis kPatienceMs = 30'000;

  struct Options {
    std::string name;  // for messages
    std::string path;  // of the collection: "/api/v1/pods"
    const char* list_accept = kJson;
    const char* watch_accept = kJson;
    bool stream_lists = true;
    std::string label = {};  // only objects that have a label of this key; empty: all
  };
  struct Callbacks {
    Task synced;     // after each complete list
    Task not_found;  // the collection is not served (404)
    // Lists have failed for kPatienceMs or longer, the last one so. Called after each until one is complete.
    absl::AnyInvocable<void(const std::string& why)> failing = {};
  };

  Reflector(Options options, Callbacks callbacks, KindStore& store, Loop& loop, Transport& transport,
            base::Random& random);
  ~Reflector();  // stops
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void Start();
  // Lists again, with the objects of now or later; `synced` follows.
  void Relist();
  const std::string& path() const { return options_.path; }

 private:
  void List();
  void SendPage(const std::string& continue_token);
  void OnPage(const Response& response);
  bool ReadPage(const Response& response, ListMeta* meta);
  void SendWatch(bool initial_events);
  void OnPiece(const Response& head, std::string_view piece);
  void OnEvent(WatchType type, const WireObject& object);
  void OnBookmark(const WireObject& object);
  void GiveUp();
  void OnWatchDone(Response response);
  void ResetBackoffIfHealthy();
  void OnTrouble(const Response& response);
  void Listed();
  void Expired();
  void Again(base::Millis delay_ms);
  void TellIfFailing();
  void CheckAlive();
  void Complain(const std::string& what, base::LogLevel level = base::LogLevel::kWarn);
  std::string Selector() const;
  std::string Query(bool initial_events, base::Millis* timeout_ms) const;

  const Options options_;
  Callbacks callbacks_;
  KindStore& store_;
  Loop& loop_;
  Transport& transport_;
  base::Random& random_;
  Backoff backoff_;

  RequestId request_ = 0;
  TimerId timer_ = 0;        // the next try, or the next check that the watch lives
  bool listing_ = true;      // the store may not be complete as of version_
  base::Millis listing_since_ms_ = 0;  // while it is; 0: its first list is to begin
  bool stream_lists_;        // the server has not refused to
  bool streaming_ = false;   // this list is streamed
  bool pages_next_ = false;  // the last streamed list fell silent
  std::string version_;      // where the watch resumes
  std::unique_ptr<WatchParser> parser_;
  base::Millis started_ms_ = 0, last_data_ms_ = 0;
  std::string last_complaint_;
};

}  // namespace tutti::kube
