// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <random>
#include <thread>
#include <variant>

#include "base/json.h"
#include "base/json_string.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mutex.h"
#include "kube/api_path.h"
#include "kube/authorized_transport.h"
#include "kube/command_request.h"
#include "kube/curl_transport.h"
#include "kube/feed.h"
#include "kube/feed_resolver.h"
#include "kube/http2_transport.h"

namespace tutti::kube {
namespace {

constexpr base::Millis kCallTimeoutMs = 10'000;
// How often a waiting caller checks that an answer is still possible.
constexpr std::chrono::milliseconds kLook{50};
constexpr base::Millis kForever = std::numeric_limits<base::Millis>::max();

std::string HostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

uint64_t Seed(uint64_t asked) {
  if (asked != 0) return asked;
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

KubeWriter::Options WriterOptions(const KubeClient::Options& options) {
  KubeWriter::Options result;
  result.in_flight = options.in_flight;
  result.write_timeout_ms = options.write_timeout_ms;
  result.component = options.component;
  result.instance = options.component + "-" + HostName();
  return result;
}

// Whether all requests go through libcurl: it supports plain HTTP, and proxies with their environment variables.
bool ThroughCurl(const Config& config) {
  const Url url = SplitUrl(config.server);
  const auto set = [](const char* name) {
    const char* value = getenv(name);
    return value != nullptr && *value != '\0';
  };
  const bool proxied = set("HTTPS_PROXY") || set("https_proxy") || set("ALL_PROXY") || set("all_proxy");
  return url.scheme != "https" || !config.proxy_url.empty() || (proxied && !url.loopback());
}

}  // namespace

struct KubeClient::Parts {
  Parts(const Config& config, const Options& options, const base::Clock& clock, cluster::EventSink& event_sink)
      : component(options.component),
        sink(event_sink),
        loop(clock),
        random(Seed(options.seed)),
        http1(config, fmt::format("{}/{} (linux)", options.component, options.version), loop),
        http2(config, fmt::format("{}/{} (linux)", options.component, options.version), loop, http1),
        transport(config, loop, ThroughCurl(config) ? static_cast<Transport&>(http1) : http2, options.on_answer),
        feed(loop, transport, random, sink),
        kinds(feed),
        writer(WriterOptions(options), loop, transport, random, kinds, sink) {
    thread = std::thread([this] {
      pthread_setname_np(pthread_self(), "kube-io");
      loop.Run();
    });
  }
  ~Parts() {
    loop.Stop();
    if (thread.joinable()) thread.join();
  }

  // Lists pods and records again, so that the plans of this leader see the last writes of the former one.
  void Won() {
    const uint64_t this_term = ++term;
    const auto lead = [this, this_term] {
      if (term != this_term) return;
      sink.Post(cluster::Leadership{true, loop.Now()});
    };
    feed.Refresh(lead);
  }
  // Writes an Event about the Lease, as client-go does for a leader. The answer is ignored.
  void Announce(const LeaseOptions& lease) {
    const std::string now = base::FormatMicroTime(loop.clock().WallMs());
    const base::Json event = {
        {"apiVersion", "events.k8s.io/v1"},
        {"kind", "Event"},
        {"metadata", {{"name", fmt::format("{}.{:016x}", lease.name, random.Next())}, {"namespace", lease.ns}}},
        {"eventTime", now},
        {"type", "Normal"},
        {"reason", "LeaderElection"},
        {"action", "LeaderElection"},
        {"note", lease.identity + " became leader"},
        {"reportingController", component},
        {"reportingInstance", component + "-" + HostName()},
        {"regarding",
         {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"namespace", lease.ns}, {"name", lease.name}}}};
    Request request;
    request.channel = Channel::kControl;
    request.method = Method::kPost;
    request.target = CollectionPath("events.k8s.io", "v1", "events", lease.ns);
    request.body = base::PrintJson(event);
    request.timeout_ms = kCallTimeoutMs;
    transport.Send(std::move(request), [](const Response&) {}, nullptr);
  }
  void Held(const std::string& holder, bool ours) {
    const base::MutexLock lock(mutex);
    lease_holder = holder;
    holds_lease = ours;
  }
  // Posts Leadership{false}, even if Leadership{true} was not posted yet: this process does not try for the lease
  // again.
  void Lost() {
    ++term;
    sink.Post(cluster::Leadership{false, 0});
  }

  const std::string component;
  cluster::EventSink& sink;
  EpollLoop loop;
  base::Random random;
  CurlTransport http1;
  Http2Transport http2;
  AuthorizedTransport transport;
  KubeFeed feed;
  FeedResolver kinds;
  KubeWriter writer;
  std::unique_ptr<LeaderElection> election;
  uint64_t term = 0;  // of leading; a list of an older term has no effect
  std::atomic<bool> ended = false;
  std::atomic<bool> holds_lease = false;
  std::atomic<base::Millis> lease_over_ms = 0;  // monotonic; when the lease that is ours runs out
  base::Mutex mutex;
  std::string lease_holder ABSL_GUARDED_BY(mutex);
  std::thread thread;
};

KubeClient::KubeClient(const Config& config, const Options& options, const base::Clock& clock, cluster::EventSink& sink)
    : parts_(std::make_unique<Parts>(config, options, clock, sink)) {}

KubeClient::~KubeClient() = default;

cluster::ClusterFeed& KubeClient::feed() { return parts_->feed; }
cluster::ClusterWriter& KubeClient::writer() { return parts_->writer; }
base::Millis KubeClient::SinceLastTurnMs() const { return parts_->loop.SinceLastTurnMs(); }

void KubeClient::LeadAlone() {
  parts_->loop.Post([&parts = *parts_] {
    parts.writer.SetWritable(kForever, kForever);
    base::LogInfo("leading, without an election");
    parts.sink.Post(cluster::Leadership{true, parts.loop.Now()});
  });
}

void KubeClient::Elect(LeaseOptions options) {
  parts_->loop.Post([&parts = *parts_, options = std::move(options)] {
    const LeaderElection::Callbacks callbacks{
        [&parts](base::Millis until_ms, base::Millis over_ms) {
          parts.lease_over_ms = over_ms;
          parts.writer.SetWritable(until_ms, over_ms);
        },
        [&parts, options] {
          parts.Announce(options);
          parts.Won();
        },
        [&parts] { parts.Lost(); },
        [&parts, identity = options.identity](const std::string& holder) { parts.Held(holder, holder == identity); }};
    parts.election = std::make_unique<LeaderElection>(options, parts.loop, parts.transport, parts.random, callbacks);
    parts.election->Start();
  });
}

std::string KubeClient::lease_holder() const {
  const base::MutexLock lock(parts_->mutex);
  return parts_->lease_holder;
}

bool KubeClient::holds_lease() const { return parts_->holds_lease; }

base::Millis KubeClient::LeaseOverdueMs() const {
  const base::Millis over_ms = parts_->lease_over_ms;
  if (!holds_lease() || over_ms == 0) return 0;
  return std::max<base::Millis>(parts_->loop.clock().MonotonicMs() - over_ms, 0);
}

void KubeClient::Shutdown(base::Millis patience_ms) {
  const auto done = std::make_shared<std::promise<void>>();
  auto finished = done->get_future();
  parts_->loop.Post([&parts = *parts_, done] {
    parts.writer.Drain([&parts, done] {
      if (parts.election != nullptr)
        parts.election->Release([done] { done->set_value(); });
      else
        done->set_value();
    });
  });
  finished.wait_for(std::chrono::milliseconds(patience_ms));
  parts_->ended = true;
  parts_->loop.Stop();
  parts_->thread.join();
}

base::Result<KubeClient::Reply> KubeClient::Call(Request request) {
  request.timeout_ms = kCallTimeoutMs;
  const auto answer = std::make_shared<std::promise<Response>>();
  auto future = answer->get_future();
  parts_->loop.Post([&parts = *parts_, request = std::move(request), answer]() mutable {
    parts.transport.Send(
        std::move(request), [answer](Response response) { answer->set_value(std::move(response)); }, nullptr);
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kCallTimeoutMs + 5'000);
  do {
    if (parts_->ended) return base::Fail(base::ErrorCode::kUnavailable, "shutting down");
    if (std::chrono::steady_clock::now() >= until)
      return base::Fail(base::ErrorCode::kUnavailable, "no answer from the API server");
  } while (future.wait_for(kLook) != std::future_status::ready);
  Response response = future.get();
  if (response.failure != Response::Failure::kNone) return base::Fail(base::ErrorCode::kUnavailable, response.error);
  return Reply{response.status, std::move(response.body)};
}

base::Result<KubeClient::Reply> KubeClient::Get(const std::string& target, Channel channel) {
  Request request;
  request.channel = channel;
  request.target = target;
  return Call(std::move(request));
}

base::Result<KubeClient::Reply> KubeClient::Post(const std::string& target, std::string json) {
  Request request;
  request.channel = Channel::kControl;
  request.method = Method::kPost;
  request.target = target;
  request.body = std::move(json);
  return Call(std::move(request));
}

base::Result<KubeClient::Reply> KubeClient::Patch(const std::string& target, std::string json) {
  Request request;
  request.channel = Channel::kControl;
  request.method = Method::kPatch;
  request.target = target;
  request.content_type = kMergePatch;
  request.body = std::move(json);
  return Call(std::move(request));
}

base::Result<KubeClient::Reply> KubeClient::Follow(const std::string& target,
                                                   const std::function<bool(std::string_view piece)>& read) {
  // Of kube-io and of the caller, which may stop reading first.
  struct Exchange {
    base::Mailbox<std::variant<std::string, Response>> parts;
    RequestId id = 0;  // kube-io only
  };
  const auto exchange = std::make_shared<Exchange>();
  parts_->loop.Post([&parts = *parts_, target, exchange] {
    Request request;
    request.channel = Channel::kStream;
    request.target = target;
    exchange->id = parts.transport.Send(
        std::move(request), [exchange](Response response) { exchange->parts.Put(std::move(response)); },
        [exchange](const Response&, std::string_view piece) { exchange->parts.Put(std::string(piece)); });
  });
  while (!parts_->ended) {
    auto arrived = exchange->parts.TakeAll(kLook);
    if (arrived.empty()) arrived.emplace_back(std::string());
    for (auto& part : arrived) {
      if (auto* response = std::get_if<Response>(&part)) {
        if (response->failure != Response::Failure::kNone && response->status == 0)
          return base::Fail(base::ErrorCode::kUnavailable, response->error);
        return Reply{response->status, std::move(response->body)};
      }
      if (read(std::get<std::string>(part))) continue;
      parts_->loop.Post([&parts = *parts_, exchange] { parts.transport.Cancel(exchange->id); });
      return Reply{200, ""};
    }
  }
  return base::Fail(base::ErrorCode::kUnavailable, "shutting down");
}

}  // namespace tutti::kube
