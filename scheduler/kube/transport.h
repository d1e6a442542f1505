// SPDX-License-Identifier: Apache-2.0
// Transport: sends requests and returns responses, without knowledge of Kubernetes' objects. It is thin, so that the
// HTTP library can be replaced, and tests can script it.
//
// All of it runs on the loop's thread. No callback runs from inside Send or Cancel.
#pragma once

#include <absl/functional/any_invocable.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/credential.h"

namespace tutti::kube {

// Each channel has connections of its own, so that a long list or a lost connection does not stall other channels.
enum class Channel { kStream, kCall, kControl };
inline constexpr int kChannels = 3;

// How long unacknowledged bytes are sent again before their connection is given up.
inline constexpr base::Millis kSocketPatienceMs = 30'000;

enum class Method { kGet, kPost, kPut, kPatch, kDelete };

inline constexpr const char* kJson = "application/json";
inline constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";
inline constexpr const char* kProtobufOrJson = "application/vnd.kubernetes.protobuf,application/json";
inline constexpr const char* kWatchProtobufOrJson =
    "application/vnd.kubernetes.protobuf;stream=watch,application/vnd.kubernetes.protobuf,application/json";

struct Request {
  Channel channel = Channel::kCall;
  Method method = Method::kGet;
  std::string target;                // path and query
  const char* accept = kJson;        // a string literal: headers are cached by address
  const char* content_type = kJson;  // a string literal; sent when there is a body
  std::string body;
  std::string if_none_match;
  base::Millis timeout_ms = 0;                   // of the whole exchange; 0: none
  base::Millis not_after_ms = 0;                 // its body is not sent later (monotonic); 0: any time
  std::shared_ptr<const Credential> credential;  // null: set by AuthorizedTransport
};

struct Response {
  enum class Failure {
    kNone,     // the answer is whole
    kNotSent,  // no byte of the request left: it has no effect
    kLost,     // the connection broke; the request may have taken effect
    kTimeout,  // timeout_ms passed; the request may yet take effect
  };
  Failure failure = Failure::kNone;
  int status = 0;     // may be set with a failure: the answer was cut
  std::string error;  // the failure, for people
  std::string content_type, etag;
  base::Millis retry_after_ms = -1;  // Retry-After; -1 when absent
  std::string body;                  // the part that on_data did not take

  // Reads one header of the answer; `name` is in lower case.
  void ReadHeader(std::string_view name, std::string_view value);
  // Appends a piece of the body; keeps only the beginning of an error's body.
  void AppendBody(std::string_view piece);
  // Ends the response before it is complete. A final status stays, because the server has decided with it.
  void Break(Failure how, std::string why);
  bool ok() const { return failure == Failure::kNone && status >= 200 && status < 300; }
  bool protobuf() const { return std::string_view(content_type).starts_with(kProtobuf); }
};

using RequestId = uint64_t;
using OnDone = absl::AnyInvocable<void(Response)>;
// Gets the body of a 2xx answer piece by piece. `head` has status and content_type.
using OnData = absl::AnyInvocable<void(const Response& head, std::string_view piece)>;

// A request that ended, for metrics.
struct Answered {
  Method method = Method::kGet;
  int status = 0;       // 0: no answer came
  double seconds = -1;  // from sending it to its end; -1 for a watch, whose length means nothing
};

// Converts the seconds that a server asks us to wait. The API has an int32, but a server may send any number, so it is
// cut.
base::Millis WaitMs(int64_t seconds);

const char* Name(Method method);

// "https://[::1]:6443/prefix" in parts.
struct Url {
  std::string scheme, authority, prefix;
  std::string host, port;  // without brackets; the scheme's port when none is given
  bool loopback() const;
  // Tells whether its host looks like a name or an address, and its port like a port.
  bool sound() const;
};
Url SplitUrl(const std::string& url);

class Transport {
 public:
  virtual ~Transport() = default;
  // Sends the request. `done` is called once, unless the request is cancelled.
  virtual RequestId Send(Request request, OnDone done, OnData data = nullptr) = 0;
  // Cancels the request: no callback of it runs from now on. Does nothing if it has ended.
  virtual void Cancel(RequestId id) = 0;
};

}  // namespace tutti::kube
