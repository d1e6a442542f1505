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
#include "kube/config.h"
#include "kube/credentials.h"

namespace tutti::app {
namespace {

// The Service leads to each replica in turn, and only one of them leads.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{1'000};

class Ignored final : public cluster::EventSink {
  void Post(cluster::FeedEvent) override {}
};

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

// Removes all that says who the user is.
void DropCredentials(kube::Config* config) {
  config->exec.reset();
  for (std::string* secret :
       {&config->token, &config->token_file, &config->username, &config->password, &config->client_cert_pem,
        &config->client_key_pem, &config->client_cert_file, &config->client_key_file})
    secret->clear();
}

// What an answer that is no success says: the scheduler's sentence, or the message of the API server's Status.
std::string WhyRefused(const kube::KubeClient::Reply& reply) {
  std::string text = reply.body;
  if (text.starts_with('{')) {
    const base::Json status = cluster::ParseJson(text);
    if (const auto at = status.is_object() ? status.find("message") : status.end();
        at != status.end() && at->is_string())
      text = at->get<std::string>();
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? fmt::format("HTTP {}", reply.status) : text;
}

}  // namespace

struct DoorClient::Parts {
  base::SystemClock clock;
  Ignored sink;
  std::unique_ptr<kube::KubeClient> client;
};

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

DoorClient::DoorClient(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

DoorClient::~DoorClient() {
  if (parts_->client) parts_->client->Shutdown(0);
}

base::Result<std::unique_ptr<DoorClient>> DoorClient::Connect(const Options& options) {
  kube::Config config;
  auto loaded = kube::LoadConfig({options.kubeconfig, options.context, ""});
  // A scheduler that is named by its address can be asked without a kubeconfig.
  if (!loaded && (options.server.empty() || !options.kubeconfig.empty() || !options.context.empty()))
    return tl::make_unexpected(loaded.error());
  if (loaded) config = *std::move(loaded);
  if (!config.impersonation.empty())
    return base::Invalid(fmt::format(
        "{}: its user has `as`: the scheduler would answer for the user of the token, and not for that one; "
        "use a context without it",
        config.source));
  if (options.server.empty() && (options.ns.empty() || options.service.empty()))
    return base::Invalid("--scheduler-namespace and --service must not be empty");
  if ((options.server.empty() ? config.server : options.server).starts_with("http://")) DropCredentials(&config);
  auto token = TokenOf(&config);
  if (!token) return tl::make_unexpected(token.error());
  std::string prefix;
  if (options.server.empty()) {
    prefix = fmt::format("/api/v1/namespaces/{}/services/https:{}:https/proxy", Escaped(options.ns),
                         Escaped(options.service));
    // These headers are sent as they are.
    if (!token->empty()) config.impersonation.emplace_back("x-tutti-authorization", "Bearer " + *token);
  } else {
    if (const std::string problem = kube::ServerProblem(options.server); !problem.empty())
      return base::Invalid(fmt::format("--server: {}", problem));
    config.server = options.server;
    if (options.insecure) {
      config.insecure_skip_tls_verify = true;
      config.ca_pem.clear();
      config.ca_file.clear();
    }
  }
  auto parts = std::make_unique<Parts>();
  kube::KubeClient::Options client;
  client.component = "kubectl-tutti";
  client.version = TUTTI_VERSION;
  parts->client = std::make_unique<kube::KubeClient>(config, client, parts->clock, parts->sink);
  std::unique_ptr<DoorClient> door(new DoorClient(std::move(parts)));
  door->prefix_ = prefix;
  if (!config.default_namespace.empty()) door->default_namespace_ = config.default_namespace;
  return door;
}

base::Result<std::string> DoorClient::Get(const std::string& path) { return GetPage(doors::Door::kPrefix + path); }

base::Result<std::string> DoorClient::GetPage(const std::string& path) {
  return AskUntilLed([&] { return parts_->client->Get(prefix_ + path); });
}

base::Result<std::string> DoorClient::Post(const std::string& path, const std::string& json) {
  return AskUntilLed([&] { return parts_->client->Post(prefix_ + doors::Door::kPrefix + path, json); });
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
