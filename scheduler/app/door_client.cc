// SPDX-License-Identifier: Apache-2.0
#include "app/door_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "cluster/json_text.h"
#include "doors/door.h"
#include "kube/api_path.h"
#include "kube/config.h"
#include "kube/credentials.h"

namespace tutti::app {
namespace {

// The Service leads to each replica in turn, and only one of them leads.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{1'000};

// Returns the token of the configuration's user; empty: it has none.
base::Result<std::string> TokenOf(kube::Config* config) {
  if (config->exec) {
    const auto made = kube::RunExecPlugin(*config->exec, *config);
    if (!made) return tl::make_unexpected(made.error());
    config->exec.reset();
    config->token = made->token;
    config->client_cert_pem = made->client_cert_pem;
    config->client_key_pem = made->client_key_pem;
  }
  if (config->token_file.empty()) return config->token;
  auto read = base::ReadFile(config->token_file);
  if (!read) return tl::make_unexpected(read.error());
  while (!read->empty() && (read->back() == '\n' || read->back() == '\r')) read->pop_back();
  return read;
}

// Reads Server-Sent Events, piece by piece.
class EventReader {
 public:
  explicit EventReader(const DoorClient::ReadEvent& read) : read_(read) {}

  // False: `read` was.
  bool Add(std::string_view piece) {
    if (piece.empty()) return read_("", base::Json());
    text_ += piece;
    size_t begin = 0;
    for (size_t end; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (!AddLine(std::string_view(text_).substr(begin, end - begin))) return false;
    text_.erase(0, begin);
    return true;
  }

 private:
  bool AddLine(std::string_view line) {
    const auto value = [line](std::string_view name) { return line.starts_with(name) ? line.substr(name.size()) : ""; };
    if (const auto event = value("event: "); !event.empty()) event_ = event;
    if (const auto data = value("data: "); !data.empty()) data_ = data;
    if (!line.empty() || event_.empty()) return true;
    return read_(std::exchange(event_, ""), cluster::ParseJson(std::exchange(data_, "")));
  }

  const DoorClient::ReadEvent& read_;
  std::string text_, event_, data_;
};

}  // namespace

DoorClient::DoorClient(const kube::Config& config, std::string prefix)
    : client_(config), prefix_(std::move(prefix)) {}

base::Result<std::unique_ptr<DoorClient>> DoorClient::Connect(const Options& options) {
  auto config = LoadUserConfig(options.api);
  if (!config) return tl::make_unexpected(config.error());
  if (!config->impersonation.empty())
    return base::Invalid(fmt::format(
        "{}: its user has `as`: the scheduler would answer for the user of the token, and not for that one; "
        "use a context without it",
        config->source));
  std::string prefix;
  if (options.api.server.empty()) {
    if (options.ns.empty() || options.service.empty())
      return base::Invalid("--scheduler-namespace and --service must not be empty");
    prefix = fmt::format("/api/v1/namespaces/{}/services/https:{}:https/proxy", kube::Escape(options.ns),
                         kube::Escape(options.service));
  }
  const auto token = TokenOf(&*config);
  if (!token) return tl::make_unexpected(token.error());
  // These headers are sent as they are.
  if (!prefix.empty() && !token->empty())
    config->impersonation.emplace_back("x-tutti-authorization", "Bearer " + *token);
  return std::unique_ptr<DoorClient>(new DoorClient(*config, std::move(prefix)));
}

base::Result<std::string> DoorClient::Get(const std::string& path) { return GetPage(doors::Door::kPrefix + path); }

base::Result<std::string> DoorClient::GetPage(const std::string& path) {
  return AskUntilLed([&] { return client_->Get(prefix_ + path); });
}

base::Result<std::string> DoorClient::Post(const std::string& path, const std::string& json) {
  return AskUntilLed([&] { return client_->Post(prefix_ + doors::Door::kPrefix + path, json); });
}

base::Status DoorClient::Follow(const std::string& path, const ReadEvent& read) {
  EventReader events(read);
  const auto ended = AskUntilLed([&] {
    return client_->Follow(prefix_ + doors::Door::kPrefix + path,
                           [&events](std::string_view piece) { return events.Add(piece); });
  });
  return ended ? base::Status() : tl::make_unexpected(ended.error());
}

template <typename Send>
base::Result<std::string> DoorClient::AskUntilLed(Send send) {
  base::Result<kube::KubeClient::Reply> reply;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    reply = send();
    if (!reply) return tl::make_unexpected(reply.error());
    if (reply->status == 200) return std::move(reply->body);
    if (reply->status != 503 || std::chrono::steady_clock::now() + pause > until) break;
    std::this_thread::sleep_for(pause);
  }
  const auto code = reply->status == 404 ? base::ErrorCode::kNotFound : base::ErrorCode::kUnavailable;
  return base::Fail(code, WhyRefused(*reply));
}

}  // namespace tutti::app
