// SPDX-License-Identifier: Apache-2.0
#include "sim/api/watch_stream.h"

#include <algorithm>
#include <limits>

#include "base/json_string.h"
#include "sim/schema/crd.h"

namespace tutti::sim {

using base::PrintJson;

namespace {

constexpr base::Millis kBookmarkEveryMs = 30'000;
constexpr base::Millis kForever = std::numeric_limits<base::Millis>::max();
// A client this far behind starts again sooner than it catches up.
constexpr size_t kMaxQueued = 200'000;

}  // namespace

const std::string& SharedEvent::Text() const {
  std::call_once(printed_, [this] { text_ = PrintJson(*event_.object); });
  return text_;
}

// --- The stream ---

WatchStream::WatchStream(WatchHub& hub, Representation representation, WatchOptions options)
    : hub_(hub),
      representation_(std::move(representation)),
      options_(std::move(options)),
      ends_at_ms_(options_.timeout_ms > 0 ? Now() + options_.timeout_ms : kForever),
      last_line_ms_(Now()) {}

WatchStream::~WatchStream() { hub_.Leave(this); }

base::Millis WatchStream::Now() const { return hub_.store_.clock().MonotonicMs(); }

base::Millis WatchStream::due_ms() {
  const base::MutexLock lock(mutex_);
  if (closed_ || finished_ || !queue_.empty() || !error_.empty()) return 0;
  return options_.bookmarks ? std::min(last_line_ms_ + kBookmarkEveryMs, ends_at_ms_) : ends_at_ms_;
}

void WatchStream::AppendLine(const char* type, const std::string& object, std::string& out) const {
  out += R"({"type":")";
  out += type;
  out += R"(","object":)";
  out += object;
  out += "}\n";
}

// An object that begins to match arrives as ADDED, one that ceases to as DELETED.
void WatchStream::Append(const SharedEvent& shared, std::string& out) {
  const WatchEvent& event = shared.event();
  const auto matches = [&](const Object& object) {
    return object && (options_.ns.empty() || NamespaceOf(*object) == options_.ns) &&
           options_.selectors.Matches(*object);
  };
  const bool was = event.type != EventType::kAdded && matches(event.previous);
  const bool is = event.type != EventType::kDeleted && matches(event.object);
  if (!was && !is) return;
  const char* type = !was ? "ADDED" : is ? "MODIFIED" : "DELETED";
  if (representation_.IsAsStored()) {
    AppendLine(type, shared.Text(), out);
    return;
  }
  AppendLine(type, representation_.Print(event.object, hub_.store_.now_ms(), !columns_sent_), out);
  columns_sent_ = true;
}

void WatchStream::Begin(Store& store, const ApiResource& resource) {
  const base::MutexLock lock(mutex_);
  if (options_.after) {
    // A version of the future is one of a former life of this cluster.
    auto events = *options_.after > store.resource_version()
                      ? tl::make_unexpected(Expired("too large resource version: this cluster has been started again"))
                      : store.EventsAfter(resource.id, *options_.after);
    if (!events) {
      AppendLine("ERROR", PrintJson(events.error().ToStatus()), error_);
      closed_ = true;
      return;
    }
    for (WatchEvent& event : *events) queue_.push_back(std::make_shared<SharedEvent>(std::move(event)));
    return;
  }
  if (options_.initial_events) {
    for (const Object& object : store.All(resource.id, options_.ns)) {
      queue_.push_back(std::make_shared<SharedEvent>(
          WatchEvent{EventType::kAdded, resource.stored_as, object, nullptr, ResourceVersionOf(*object)}));
    }
  }
  if (options_.initial_bookmark) {
    initial_version_ = store.resource_version();
    queue_.push_back(nullptr);
  }
}

void WatchStream::Offer(const std::shared_ptr<SharedEvent>& event) {
  const base::MutexLock lock(mutex_);
  if (closed_) return;
  queue_.push_back(event);
  if (queue_.size() > kMaxQueued) closed_ = true;
  arrived_.NotifyOne();
}

void WatchStream::End() {
  const base::MutexLock lock(mutex_);
  closed_ = true;
  arrived_.NotifyOne();
}

std::optional<std::string> WatchStream::Next(std::chrono::milliseconds patience) {
  // Read before the queue is seen empty: then nothing up to it can still be on its way.
  const int64_t delivered = hub_.delivered_.load();
  std::deque<std::shared_ptr<SharedEvent>> events;
  std::string out;
  bool closed;
  {
    const base::MutexLock lock(mutex_);
    const auto until =
        std::chrono::steady_clock::now() + std::min(patience, std::chrono::milliseconds(ends_at_ms_ - Now()));
    while (patience.count() > 0 && queue_.empty() && !closed_ && arrived_.WaitUntil(mutex_, until)) {
    }
    events.swap(queue_);
    out.swap(error_);
    closed = closed_;
  }
  for (const auto& event : events) {
    if (event) {
      Append(*event, out);
    } else {
      AppendLine("BOOKMARK", PrintJson(representation_.RenderBookmark(initial_version_, true)), out);
    }
  }
  const base::Millis now = Now();
  const bool over = closed || now >= ends_at_ms_;
  if (events.empty() && out.empty()) {
    if (over && finished_) return std::nullopt;
    finished_ = over;
    const bool due = over || now - last_line_ms_ >= kBookmarkEveryMs;
    if (options_.bookmarks && due && !closed)  // one that is closed was not offered all of that
      AppendLine("BOOKMARK", PrintJson(representation_.RenderBookmark(delivered, false)), out);
  }
  if (!out.empty()) last_line_ms_ = now;
  return out;
}

// --- The hub ---

WatchHub::WatchHub(Store& store) : store_(store), delivered_(store.resource_version()) {
  subscription_ = store.Subscribe([this](const WatchEvent& event) { Observe(event); });
}

WatchHub::~WatchHub() { store_.Unsubscribe(subscription_); }

std::shared_ptr<WatchStream> WatchHub::Open(const ApiResource& resource, Representation representation,
                                            WatchOptions options) {
  auto stream = std::make_shared<WatchStream>(*this, std::move(representation), std::move(options));
  stream->Begin(store_, resource);
  const base::MutexLock lock(mutex_);
  if (closed_) stream->End();
  streams_[resource.stored_as].push_back(stream.get());
  return stream;
}

void WatchHub::Observe(const WatchEvent& event) {
  {
    const base::MutexLock lock(mutex_);
    const auto it = streams_.find(event.resource);
    if (it != streams_.end() && !it->second.empty()) {
      const auto shared = std::make_shared<SharedEvent>(event);
      for (WatchStream* stream : it->second) stream->Offer(shared);
    }
  }
  delivered_.store(event.resource_version);
  if (event.resource != kCustomResourceDefinitions || event.type == EventType::kAdded) return;
  const bool changed =
      event.type == EventType::kDeleted || Child(*event.object, "spec") != Child(*event.previous, "spec");
  if (changed) EndStreamsOf(ResourceOfDefinition(*event.object).id);
}

void WatchHub::EndStreamsOf(const GroupResource& resource) {
  const base::MutexLock lock(mutex_);
  const auto found = streams_.find(resource);
  if (found == streams_.end()) return;
  for (WatchStream* stream : found->second) stream->End();
}

void WatchHub::Leave(WatchStream* stream) {
  const base::MutexLock lock(mutex_);
  for (auto& [_, streams] : streams_) std::erase(streams, stream);
}

void WatchHub::Close() {
  const base::MutexLock lock(mutex_);
  closed_ = true;
  for (auto& [_, streams] : streams_) {
    for (WatchStream* stream : streams) stream->End();
  }
}

}  // namespace tutti::sim
