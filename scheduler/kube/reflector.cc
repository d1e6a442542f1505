// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"

namespace tutti::kube {
namespace {

constexpr base::Millis kFirstBackoffMs = 800, kLongestBackoffMs = 30'000;
constexpr base::Millis kHealthyAfterMs = 120'000;  // a watch that lasted so long resets the backoff
constexpr base::Millis kQuickEndMs = 1'000;        // after a shorter watch the next one waits
constexpr base::Millis kSilenceMs = 150'000;       // bookmarks come every minute or so
constexpr base::Millis kListSilenceMs = 10'000;  // in a streamed list: the server does not support it, or is in trouble
constexpr base::Millis kPageTimeoutMs = 60'000;
constexpr int kPageSize = 500;
constexpr base::Millis kSlackMs = 30'000;

const base::Json* Child(const base::Json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto at = object->find(key);
  return at == object->end() ? nullptr : &*at;
}

std::string TextOf(const base::Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

}  // namespace

Reflector::Reflector(Options options, Callbacks callbacks, KindStore& store, Loop& loop, Transport& transport,
                     base::Random& random)
    : options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      store_(store),
      loop_(loop),
      transport_(transport),
      random_(random),
      backoff_(kFirstBackoffMs, kLongestBackoffMs, random),
      stream_lists_(options_.stream_lists) {}

Reflector::~Reflector() {
  transport_.Cancel(request_);
  loop_.CancelTimer(timer_);
}

void Reflector::Start() { List(); }

void Reflector::Relist() {
  transport_.Cancel(std::exchange(request_, 0));
  loop_.CancelTimer(std::exchange(timer_, 0));
  List();
}

void Reflector::List() {
  listing_ = true;
  if (listing_since_ms_ == 0) listing_since_ms_ = loop_.Now();
  version_.clear();
  store_.BeginList();
  streaming_ = stream_lists_ && !std::exchange(pages_next_, false);
  if (streaming_)
    SendWatch(true);
  else
    SendPage("");
}

void Reflector::Again(base::Millis delay_ms) {
  TellIfFailing();
  loop_.CancelTimer(timer_);
  timer_ = loop_.After(delay_ms, [this] {
    timer_ = 0;
    if (listing_)
      List();
    else
      SendWatch(false);
  });
}

void Reflector::TellIfFailing() {
  if (listing_since_ms_ == 0 || loop_.Now() - listing_since_ms_ < kPatienceMs || !callbacks_.failing) return;
  callbacks_.failing(last_complaint_.empty() ? "no list of it is answered" : last_complaint_);
}

// --- Pages ---

void Reflector::SendPage(const std::string& continue_token) {
  Request request;
  request.channel = Channel::kStream;
  request.target = fmt::format("{}?limit={}{}", options_.path, kPageSize, Selector());
  if (!continue_token.empty()) request.target += "&continue=" + continue_token;
  request.accept = options_.list_accept;
  request.timeout_ms = kPageTimeoutMs;
  request_ = transport_.Send(std::move(request), [this](const Response& response) { OnPage(response); });
}

void Reflector::OnPage(const Response& response) {
  request_ = 0;
  if (!response.ok()) return OnTrouble(response);
  ListMeta meta;
  if (!ReadPage(response, &meta)) {
    Complain("a list that cannot be read");
    return Again(backoff_.Next());
  }
  if (!meta.continue_token.empty()) return SendPage(meta.continue_token);
  version_ = meta.resource_version;
  Listed();
  SendWatch(false);
}

bool Reflector::ReadPage(const Response& response, ListMeta* meta) {
  if (response.protobuf()) {
    const auto envelope = OpenEnvelope(response.body);
    return envelope &&
           ForEachItem(envelope->raw, meta, [this](std::string_view item) { store_.Put({{}, item, nullptr}); });
  }
  auto list = cluster::ParseObject(response.body);
  const base::Json* list_meta = Child(&list, "metadata");
  if (list_meta == nullptr) return false;
  meta->resource_version = TextOf(Child(list_meta, "resourceVersion"));
  meta->continue_token = TextOf(Child(list_meta, "continue"));
  const auto items = list.find("items");
  if (items == list.end() || !items->is_array()) return items == list.end() || items->is_null();
  const std::string api_version = TextOf(Child(&list, "apiVersion"));
  for (base::Json& item : *items) {
    if (!item.is_object()) continue;
    if (!item.contains("apiVersion")) item["apiVersion"] = api_version;
    store_.Put(WireObject::Json(std::move(item)));
  }
  return true;
}

void Reflector::Listed() {
  listing_ = false;
  listing_since_ms_ = 0;
  last_complaint_.clear();
  store_.EndList();
  if (callbacks_.synced) callbacks_.synced();
}

// --- Watch ---

std::string Reflector::Selector() const {
  return options_.label.empty() ? std::string() : "&labelSelector=" + Escape(options_.label);
}

std::string Reflector::Query(bool initial_events, base::Millis* timeout_ms) const {
  const int64_t seconds = random_.Between(300, 600);
  *timeout_ms = seconds * 1000;
  std::string target =
      fmt::format("{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={}{}", options_.path, seconds, Selector());
  if (initial_events)
    target += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  else
    target += "&resourceVersion=" + version_;
  return target;
}

void Reflector::SendWatch(bool initial_events) {
  Request request;
  request.channel = Channel::kStream;
  base::Millis timeout_ms = 0;
  request.target = Query(initial_events, &timeout_ms);
  request.accept = options_.watch_accept;
  request.timeout_ms = timeout_ms + kSlackMs;
  parser_.reset();
  started_ms_ = last_data_ms_ = loop_.Now();
  request_ = transport_.Send(
      std::move(request), [this](Response response) { OnWatchDone(std::move(response)); },
      [this](const Response& head, std::string_view piece) { OnPiece(head, piece); });
  CheckAlive();
}

void Reflector::OnPiece(const Response& head, std::string_view piece) {
  last_data_ms_ = loop_.Now();
  if (parser_ == nullptr) parser_ = std::make_unique<WatchParser>(head.protobuf());
  WatchParser::Each each = [this](WatchType type, const WireObject& object) {
    if (request_ != 0) OnEvent(type, object);
  };
  if (parser_->Feed(piece, each) || request_ == 0) return;
  Complain("a watch that cannot be read");
  listing_ = true;
  GiveUp();
}

// Cancels the watch.
void Reflector::GiveUp() {
  transport_.Cancel(std::exchange(request_, 0));
  ResetBackoffIfHealthy();
  Again(backoff_.Next());
}

void Reflector::OnEvent(WatchType type, const WireObject& object) {
  switch (type) {
    case WatchType::kAdded:
    case WatchType::kModified: version_ = store_.Put(object); break;
    case WatchType::kDeleted: version_ = store_.Delete(object); break;
    case WatchType::kBookmark: OnBookmark(object); break;
    case WatchType::kError: {
      const ApiStatus status =
          object.json != nullptr ? DecodeStatusObject(*object.json) : DecodeStatusMessage(object.protobuf);
      if (status.code == 410 || status.reason == "Expired" || status.reason == "Gone")
        Expired();
      else
        Complain("the watch ended: " + status.message);
      GiveUp();
      break;
    }
  }
}

void Reflector::OnBookmark(const WireObject& object) {
  bool initial_events_end = false;
  if (object.json != nullptr) {
    const base::Json* meta = Child(object.json.get(), "metadata");
    version_ = TextOf(Child(meta, "resourceVersion"));
    initial_events_end = Child(Child(meta, "annotations"), "k8s.io/initial-events-end") != nullptr;
  } else {
    const MetaView meta = DecodeMetaView(object.protobuf);
    version_ = std::string(meta.resource_version);
    initial_events_end = meta.initial_events_end;
  }
  if (!listing_) return;
  if (initial_events_end) return Listed();
  // A streamed list ends with its first bookmark (KEP-3157). Here another bookmark came: the server ignores
  // sendInitialEvents and has opened a plain watch.
  stream_lists_ = false;
  transport_.Cancel(std::exchange(request_, 0));
  Again(0);
}

void Reflector::OnWatchDone(Response response) {
  request_ = 0;
  loop_.CancelTimer(std::exchange(timer_, 0));
  ResetBackoffIfHealthy();
  if (response.status < 200 || response.status >= 300) return OnTrouble(response);
  if (response.failure != Response::Failure::kNone)
    base::LogInfo("a watch was cut", {{"kind", options_.name}, {"why", response.error}});
  const bool quick = loop_.Now() - started_ms_ < kQuickEndMs;
  Again(quick || listing_ ? backoff_.Next() : 0);
}

void Reflector::ResetBackoffIfHealthy() {
  if (loop_.Now() - started_ms_ > kHealthyAfterMs) backoff_.Reset();
}

// Handles an answer that is neither a list nor a watch.
void Reflector::OnTrouble(const Response& response) {
  const Judgement judgement = Judge(response);
  if (listing_ && streaming_ && (response.status == 400 || response.status == 422 || response.status == 406)) {
    stream_lists_ = false;
    return Again(0);
  }
  if (response.status == 410 || response.status == 400 || judgement.reason == "Expired" ||
      judgement.message.find("Too large resource version") != std::string::npos) {
    if (response.status == 400 && listing_) Complain(judgement.message);  // a list has no version that could be too old
    Expired();
    return Again(backoff_.Next());
  }
  if (response.status == 404 && callbacks_.not_found) {
    listing_ = true;
    Again(backoff_.Next());
    return callbacks_.not_found();  // may destroy this
  }
  // A new definition or a busy server answers so for a while.
  Complain(Complaint(judgement), response.status == 429 ? base::LogLevel::kInfo : base::LogLevel::kWarn);
  Again(std::max(judgement.wait_ms, backoff_.Next()));
}

void Reflector::Expired() {
  if (!std::exchange(listing_, true)) base::LogInfo("the watch has expired, listing again", {{"kind", options_.name}});
}

void Reflector::CheckAlive() {
  loop_.CancelTimer(timer_);
  const bool streamed_list = listing_ && streaming_;
  const base::Millis limit_ms = streamed_list ? kListSilenceMs : kSilenceMs;
  const base::Millis silent_ms = loop_.Now() - last_data_ms_;
  if (silent_ms < limit_ms) {
    timer_ = loop_.After(limit_ms - silent_ms, [this] { CheckAlive(); });
    return;
  }
  Complain("the watch is silent");
  transport_.Cancel(std::exchange(request_, 0));
  pages_next_ = streamed_list;
  timer_ = 0;
  Again(0);
}

// Logs each new trouble once, not at each try.
void Reflector::Complain(const std::string& what, base::LogLevel level) {
  if (what.empty() || what == last_complaint_) return;
  last_complaint_ = what;
  base::Log(level, "list or watch failed", {{"kind", options_.name}, {"path", options_.path}, {"error", what}});
}

}  // namespace tutti::kube
