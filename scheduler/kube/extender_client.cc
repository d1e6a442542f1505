// SPDX-License-Identifier: Apache-2.0
#include "kube/extender_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/log.h"
#include "kube/api_path.h"
#include "kube/extender_messages.h"
#include "kube/transport.h"

namespace tutti::kube {
namespace {

using cluster::ExtenderQuestion;
using cluster::ExtenderReply;
using cluster::PreemptionQuestion;

// kube-scheduler's MaxNodeScore / MaxExtenderPriority.
constexpr int64_t kScoreUnit = 10;
constexpr std::chrono::seconds kLongestSleep{60};

curl_blob BlobOf(const std::string& text) { return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY}; }

size_t TakeBody(char* data, size_t size, size_t count, void* user) {
  auto* body = static_cast<std::string*>(user);
  if (body->size() + size * count > ExtenderClient::kMostBytes) return 0;
  body->append(data, size * count);
  return size * count;
}

}  // namespace

// The connections of one thread, kept open from one call to the next.
class ExtenderClient::Connection {
 public:
  Connection() : easy_(curl_easy_init()) {}
  ~Connection() { curl_easy_cleanup(easy_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends a request and returns the body of a 200. Errors name the extender and the failure, never the request's
  // content.
  base::Result<std::string> Call(const ExtenderSpec& spec, const std::string& verb, const std::string& json) {
    curl_easy_reset(easy_);
    // To check the certificate against another name, the URL gets that name, and the connection still goes to the URL's
    // host.
    Url at = SplitUrl(spec.url_prefix);
    const std::string connect_to = fmt::format("::{}:{}", at.host, at.port);
    if (!spec.server_name.empty()) at.authority = spec.server_name + ":" + at.port;
    const std::string url = fmt::format("{}://{}{}/{}", at.scheme, at.authority, at.prefix, verb);
    curl_slist* connect = spec.server_name.empty() ? nullptr : curl_slist_append(nullptr, connect_to.c_str());
    const curl_blob ca = BlobOf(spec.ca_pem), cert = BlobOf(spec.cert_pem), key = BlobOf(spec.key_pem);
    std::string body;
    curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, json.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
    curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(spec.http_timeout_ms));
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, spec.insecure ? 0L : 1L);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, spec.insecure ? 0L : 2L);
    if (!spec.ca_pem.empty()) curl_easy_setopt(easy_, CURLOPT_CAINFO_BLOB, &ca);
    if (!spec.cert_pem.empty()) curl_easy_setopt(easy_, CURLOPT_SSLCERT_BLOB, &cert);
    if (!spec.key_pem.empty()) curl_easy_setopt(easy_, CURLOPT_SSLKEY_BLOB, &key);
    if (connect) curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, connect);
    const CURLcode code = curl_easy_perform(easy_);
    curl_slist_free_all(headers);
    curl_slist_free_all(connect);
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)
      return base::Fail(base::ErrorCode::kUnavailable,
                        fmt::format("extender {}: {}: it cannot be reached", spec.url_prefix, verb));
    if (code != CURLE_OK)
      return base::Invalid(fmt::format("extender {}: {}: {}", spec.url_prefix, verb, curl_easy_strerror(code)));
    if (status != 200)
      return base::Invalid(fmt::format("extender {}: {}: it answered with HTTP {}", spec.url_prefix, verb, status));
    return body;
  }

 private:
  CURL* easy_;
};

// One question that goes from extender to extender.
class ExtenderClient::Consultation {
 public:
  Consultation(const ExtenderClient& client, Connection& connection, const ExtenderQuestion& question)
      : client_(client), connection_(connection), question_(question) {}

  ExtenderReply Run() {
    reply_.id = question_.id;
    reply_.nodes = question_.nodes;
    std::ranges::sort(reply_.nodes);
    for (const ExtenderSpec& spec : client_.specs_) {
      if (reply_.nodes.empty() || !reply_.error.empty()) break;
      if (!spec.filter_verb.empty() && IsInterested(spec)) Filter(spec);
    }
    std::map<std::string, int64_t> scores;
    for (const ExtenderSpec& spec : client_.specs_) {
      if (reply_.nodes.size() < 2) break;  // a single node needs no score
      if (!spec.prioritize_verb.empty() && IsInterested(spec)) AddScores(spec, &scores);
    }
    reply_.scores.assign(scores.begin(), scores.end());
    return std::move(reply_);
  }

 private:
  bool IsInterested(const ExtenderSpec& spec) const { return spec.ForCore().IsInterestedIn(*question_.pod->spec); }

  void Filter(const ExtenderSpec& spec) {
    const auto result = Ask<ExtenderFilterResult>(spec, spec.filter_verb, ReadFilterResult);
    if (!result && spec.ignorable)
      return base::LogWarn("an extender that may be ignored failed", {{"why", result.error().message}});
    if (!result) {
      reply_.error = result.error().message;
      reply_.nodes.clear();
      return;
    }
    const std::set<std::string> taken(result->nodes.begin(), result->nodes.end());
    for (const std::string& node : reply_.nodes) {
      if (taken.contains(node)) continue;
      const auto why = result->failed.find(node);
      const bool said = why != result->failed.end() && !why->second.empty();
      ++reply_.reasons[said ? why->second : "node(s) were refused by an extender"];
    }
    std::erase_if(reply_.nodes, [&](const std::string& node) { return !taken.contains(node); });
  }

  // Adds the extender's scores; adds nothing if it fails, because scores are only a preference.
  void AddScores(const ExtenderSpec& spec, std::map<std::string, int64_t>* scores) {
    const auto result = Ask<Priorities>(spec, spec.prioritize_verb, ReadPriorities);
    if (!result) return base::LogWarn("the scores of an extender are left out", {{"why", result.error().message}});
    for (const auto& [node, score] : *result) (*scores)[node] += score * spec.weight * kScoreUnit;
  }

  template <class Answer>
  base::Result<Answer> Ask(const ExtenderSpec& spec, const std::string& verb,
                           base::Result<Answer> (*read)(const std::string&)) {
    const auto args = ArgsFor(spec);
    if (!args) return tl::make_unexpected(args.error());
    const auto body = connection_.Call(spec, verb, *args);
    if (!body) return tl::make_unexpected(body.error());
    auto answer = read(*body);
    if (!answer) return base::Invalid(fmt::format("extender {}: {}", spec.url_prefix, answer.error().message));
    return answer;
  }

  base::Result<std::string> ArgsFor(const ExtenderSpec& spec) {
    if (pod_json_.empty()) {
      auto json = client_.ReadPod(question_.pod->meta);
      if (!json) return json;
      pod_json_ = *std::move(json);
    }
    if (spec.node_cache_capable) return ExtenderArgs(pod_json_, NodeNames{reply_.nodes});
    if (const base::Status listed = ListNodes(); !listed) return tl::make_unexpected(listed.error());
    NodeObjects nodes;
    for (const std::string& name : reply_.nodes)
      if (const auto at = listed_->find(name); at != listed_->end()) nodes.jsons.push_back(at->second);
    return ExtenderArgs(pod_json_, nodes);
  }

  base::Status ListNodes() {
    for (const base::Millis as_of_ms : {begun_ms_ - ExtenderNodes::kFreshMs, begun_ms_}) {
      const bool is_known = listed_ && std::ranges::all_of(reply_.nodes, [this](const std::string& name) {
                              return listed_->contains(name);  // another may have come since
                            });
      if (is_known) break;
      const ExtenderNodes::Listed listed = client_.nodes_.AsOf(as_of_ms);
      if (!listed) return tl::make_unexpected(listed.error());
      listed_ = *listed;
    }
    return {};
  }

  const ExtenderClient& client_;
  Connection& connection_;
  const ExtenderQuestion& question_;
  ExtenderReply reply_;
  const base::Millis begun_ms_ = client_.clock_.MonotonicMs();
  std::string pod_json_;                                 // empty: not read yet
  std::shared_ptr<const ExtenderNodes::ByName> listed_;  // null: likewise
};

// One question about pods that would go for another.
class ExtenderClient::Preemption {
 public:
  Preemption(const ExtenderClient& client, Connection& connection, const PreemptionQuestion& question)
      : client_(client), connection_(connection), question_(question) {}

  ExtenderReply Run() {
    reply_.id = question_.id;
    reply_.candidates = question_.candidates;
    for (const ExtenderSpec& spec : client_.specs_) {
      if (reply_.candidates.empty() || !reply_.error.empty()) break;
      const cluster::Extender extender = spec.ForCore();
      if (extender.preempts && extender.IsInterestedIn(*question_.pod->spec)) Ask(spec);
    }
    return std::move(reply_);
  }

 private:
  void Ask(const ExtenderSpec& spec) {
    const base::Status asked = TryAsk(spec);
    if (asked) return;
    if (spec.ignorable)
      return base::LogWarn("an extender that may be ignored failed", {{"why", asked.error().message}});
    reply_.error = asked.error().message;
    reply_.candidates.clear();
  }

  base::Status TryAsk(const ExtenderSpec& spec) {
    if (pod_json_.empty()) {
      auto json = client_.ReadPod(question_.pod->meta);
      if (!json) return tl::make_unexpected(json.error());
      pod_json_ = *std::move(json);
    }
    if (!spec.node_cache_capable)
      if (const base::Status read = ReadVictims(); !read) return read;
    const auto body = connection_.Call(
        spec, spec.preempt_verb,
        ExtenderPreemptionArgs(pod_json_, reply_.candidates, spec.node_cache_capable ? nullptr : &victim_jsons_));
    if (!body) return tl::make_unexpected(body.error());
    const auto result = ReadPreemptionResult(*body);
    const base::Status taken = result ? TakePreemptionResult(*result, spec.ignorable, &reply_.candidates)
                                      : base::Status(tl::make_unexpected(result.error()));
    if (!taken) return base::Invalid(fmt::format("extender {}: {}", spec.url_prefix, taken.error().message));
    return {};
  }

  base::Status ReadVictims() {
    for (const cluster::NodeVictims& candidate : reply_.candidates)
      for (const auto& victim : candidate.victims) {
        if (victim_jsons_.contains(victim->meta.uid)) continue;
        auto json = client_.ReadPod(victim->meta);
        if (!json) return tl::make_unexpected(json.error());
        victim_jsons_[victim->meta.uid] = *std::move(json);
      }
    return {};
  }

  const ExtenderClient& client_;
  Connection& connection_;
  const PreemptionQuestion& question_;
  ExtenderReply reply_;
  std::string pod_json_;                             // empty: not read yet
  std::map<std::string, std::string> victim_jsons_;  // those that were read, by UID
};

ExtenderClient::ExtenderClient(std::vector<ExtenderSpec> specs, ReadObject read, const base::Clock& clock,
                               cluster::EventSink& sink)
    : specs_(std::move(specs)), read_(std::move(read)), clock_(clock), sink_(sink), nodes_(read_, clock) {
  for (size_t i = 0; i < kThreads; ++i) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.thread = std::thread([this, &worker] { Work(worker); });
  }
}

ExtenderClient::~ExtenderClient() { Stop(); }

void ExtenderClient::Stop() {
  stopped_ = true;
  for (const auto& worker : workers_) worker->tasks.Wake();
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

void ExtenderClient::Post(Task task) { workers_[next_++ % workers_.size()]->tasks.Put(std::move(task)); }

void ExtenderClient::Work(Worker& worker) {
  pthread_setname_np(pthread_self(), "extenders");
  Connection connection;
  while (!stopped_)
    for (const Task& task : worker.tasks.TakeAll(kLongestSleep))
      if (!stopped_) task(connection);
}

void ExtenderClient::Ask(ExtenderQuestion question) {
  Post([this, question = std::move(question)](Connection& connection) { sink_.Post(Consult(connection, question)); });
}

void ExtenderClient::AskToPreempt(PreemptionQuestion question) {
  Post([this, question = std::move(question)](Connection& connection) {
    sink_.Post(Preemption(*this, connection, question).Run());
  });
}

base::Result<std::string> ExtenderClient::ReadPod(const model::ObjectMeta& pod) const {
  auto json = read_(ObjectPath("", "v1", "pods", pod.ns, pod.name));
  if (!json)
    return base::Invalid(
        fmt::format("pod {}/{} could not be read for an extender: {}", pod.ns, pod.name, json.error().message));
  return json;
}

void ExtenderClient::Bind(size_t index, cluster::CommandId id, base::Millis deadline_ms, const cluster::Bind& bind) {
  Post([this, index, id, deadline_ms, bind](Connection& connection) {
    cluster::CommandReply answer;
    if (clock_.MonotonicMs() < deadline_ms) {
      answer = BindBy(connection, specs_.at(index), bind);
    } else {
      answer.outcome = cluster::Outcome::kRefused;
      answer.message = "the deadline passed before the extender could be asked";
    }
    answer.id = id;
    sink_.Post(std::move(answer));
  });
}

cluster::CommandReply ExtenderClient::BindBy(Connection& connection, const ExtenderSpec& spec,
                                             const cluster::Bind& bind) const {
  cluster::CommandReply answer;
  const auto body = connection.Call(spec, spec.bind_verb, ExtenderBindingArgs(bind));
  if (!body) {
    // An extender that was reached may have bound the pod before it failed.
    const bool reached = body.error().code != base::ErrorCode::kUnavailable;
    answer.outcome = reached ? cluster::Outcome::kUnknown : cluster::Outcome::kRefused;
    if (!reached) answer.http_status = 503;
    answer.message = body.error().message;
    return answer;
  }
  const base::Status bound = ReadBindingResult(*body);
  if (bound) return answer;
  answer.outcome = cluster::Outcome::kRefused;
  answer.http_status = 422;  // the extender has refused
  answer.message = fmt::format("extender {}: {}", spec.url_prefix, bound.error().message);
  return answer;
}

ExtenderReply ExtenderClient::Consult(Connection& connection, const ExtenderQuestion& question) const {
  return Consultation(*this, connection, question).Run();
}

}  // namespace tutti::kube
