// SPDX-License-Identifier: Apache-2.0
// WatchParser: parses the body of a watch, piece by piece, into events. A protobuf frame begins with its length; a JSON
// document is one line. One thread.
#pragma once

#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace tutti::kube {

enum class WatchType { kAdded, kModified, kDeleted, kBookmark, kError };

// One object as received: a bare protobuf message, or JSON.
struct WireObject {
  std::string_view kind;             // from the envelope; empty for an item of a list
  std::string_view protobuf;         // valid during the call
  std::shared_ptr<base::Json> json;  // not null: the object is JSON

  static WireObject Json(base::Json object);
};

class WatchParser {
 public:
  using Each = absl::AnyInvocable<void(WatchType, WireObject)>;

  explicit WatchParser(bool protobuf) : protobuf_(protobuf) {}

  // Calls `each` for every event that is complete now. False: the stream is malformed; start again.
  bool Feed(std::string_view piece, Each& each);

 private:
  // Returns how many bytes at the start of `data` are one event with its frame; 0: it is incomplete.
  size_t FrameSize(std::string_view data) const;
  bool ParseFrame(std::string_view frame, Each& each) const;

  const bool protobuf_;
  std::string pending_;
};

}  // namespace tutti::kube
