// SPDX-License-Identifier: Apache-2.0
// A loop under a virtual clock, a transport for which the test is the server, and a sink that keeps what it is given.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cluster/ports.h"
#include "kube/loop.h"
#include "kube/transport.h"
#include "kube/wire.h"

namespace tutti::kube {

inline constexpr base::Millis kEpochMs = 1'700'000'000'000;

class FakeLoop final : public Loop {
 public:
  void Post(Task task) override { posted_.push_back(std::move(task)); }
  const base::Clock& clock() const override { return clock_; }
  TimerId After(base::Millis delay_ms, Task task) override {
    const TimerId id = ++last_;
    timers_.emplace(std::pair(clock_.MonotonicMs() + delay_ms, id), std::move(task));
    return id;
  }
  void CancelTimer(TimerId id) override {
    if (id == 0) return;
    const auto at = std::ranges::find_if(timers_, [id](const auto& timer) { return timer.first.second == id; });
    if (at != timers_.end()) timers_.erase(at);
  }

  void RunPosted() {
    while (!posted_.empty()) {
      Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
    }
  }
  // Lets `by_ms` pass, running each timer at its time.
  void Advance(base::Millis by_ms) {
    const base::Millis until = clock_.MonotonicMs() + by_ms;
    RunPosted();
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      auto node = timers_.extract(timers_.begin());
      clock_.AdvanceTo(std::max(clock_.MonotonicMs(), node.key().first));
      node.mapped()();
      RunPosted();
    }
    clock_.AdvanceTo(until);
  }
  base::VirtualClock& virtual_clock() { return clock_; }

 private:
  base::VirtualClock clock_{kEpochMs};
  std::map<std::pair<base::Millis, TimerId>, Task> timers_;
  std::deque<Task> posted_;
  TimerId last_ = 0;
};

class FakeTransport final : public Transport {
 public:
  struct Call {
    RequestId id = 0;
    Request request;
    OnDone done;
    OnData data;
  };

  RequestId Send(Request request, OnDone done, OnData data) override {
    auto call = std::make_shared<Call>();
    call->id = ++last_;
    call->request = std::move(request);
    call->done = std::move(done);
    call->data = std::move(data);
    ++sent;
    open.push_back(call);
    return call->id;
  }
  void Cancel(RequestId id) override {
    const auto removed = std::erase_if(open, [id](const auto& call) { return call->id == id; });
    cancelled += static_cast<int>(removed);
  }

  // Returns the first open request whose target contains `part`. Throws if there is none, and so the test fails.
  std::shared_ptr<Call> Find(const std::string& part) const {
    for (const auto& call : open)
      if (call->request.target.find(part) != std::string::npos) return call;
    throw std::runtime_error("no open request to " + part + "; " + std::to_string(open.size()) + " open");
  }
  bool Has(const std::string& part) const {
    for (const auto& call : open)
      if (call->request.target.find(part) != std::string::npos) return true;
    return false;
  }
  void Answer(std::shared_ptr<Call> call, Response response) {  // by value: `call` may be the entry of `open`
    std::erase(open, call);
    call->done(std::move(response));
  }
  void AnswerJson(const std::shared_ptr<Call>& call, int status, const std::string& body) {
    Response response;
    response.status = status;
    response.content_type = kJson;
    response.body = body;
    Answer(call, std::move(response));
  }
  void Fail(const std::shared_ptr<Call>& call, Response::Failure failure) {
    Response response;
    response.failure = failure;
    response.error = "as the test wants";
    Answer(call, std::move(response));
  }
  // Sends one piece of the body of an answer with status 200.
  static void Stream(const std::shared_ptr<Call>& call, const std::string& piece, const char* content_type = kJson) {
    Response head;
    head.status = 200;
    head.content_type = content_type;
    call->data(head, piece);
  }
  void EndStream(const std::shared_ptr<Call>& call) {
    Response response;
    response.status = 200;
    Answer(call, std::move(response));
  }

  std::vector<std::shared_ptr<Call>> open;
  int sent = 0, cancelled = 0;

 private:
  RequestId last_ = 0;
};

class FakeSink final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override { events.push_back(std::move(event)); }

  // Removes all events of one type, and returns them.
  template <typename T>
  std::vector<T> Take() {
    std::vector<T> taken;
    std::erase_if(events, [&](cluster::FeedEvent& event) {
      T* match = std::get_if<T>(&event);
      if (match != nullptr) taken.push_back(std::move(*match));
      return match != nullptr;
    });
    return taken;
  }
  std::vector<cluster::FeedEvent> events;
};

inline std::string StatusJson(int code, const std::string& reason, const std::string& message = "no") {
  return base::Json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"},
                    {"code", code},     {"reason", reason},   {"message", message}}
      .dump();
}

// "k8s\0" followed by a runtime.Unknown with `message`.
inline std::string Enveloped(const std::string& kind, const std::string& message) {
  std::string body("k8s\0", 4);
  WireWriter writer(&body);
  writer.Message(1, [&](WireWriter& type) {
    type.Text(1, "v1");
    type.Text(2, kind);
  });
  writer.Bytes(2, message);
  return body;
}

// Returns a frame of a protobuf watch.
inline std::string WatchFrame(const std::string& type, const std::string& enveloped) {
  std::string event;
  WireWriter writer(&event);
  writer.Text(1, type);
  writer.Message(2, [&](WireWriter& raw) { raw.Bytes(1, enveloped); });
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<char>(event.size() >> shift & 0xff));
  return frame + event;
}

}  // namespace tutti::kube
