// SPDX-License-Identifier: Apache-2.0
#include "app/api_client.h"

#include <fmt/format.h>

#include <utility>

#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"
#include "kube/config.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

constexpr int kPage = 500;  // objects in an answer

// Removes all that says who the user is.
void DropCredentials(kube::Config* config) {
  config->exec.reset();
  for (std::string* secret :
       {&config->token, &config->token_file, &config->username, &config->password, &config->client_cert_pem,
        &config->client_key_pem, &config->client_cert_file, &config->client_key_file})
    secret->clear();
}

base::Result<base::Json> ObjectIn(base::Result<kube::KubeClient::Reply> reply) {
  if (!reply) return tl::make_unexpected(reply.error());
  if (reply->status < 200 || reply->status > 299)
    return base::Fail(reply->status == 404 ? base::ErrorCode::kNotFound : base::ErrorCode::kUnavailable,
                      WhyRefused(*reply));
  base::Json object = cluster::ParseJson(reply->body);
  if (!object.is_object())
    return base::Fail(base::ErrorCode::kUnavailable, "the answer of the API server is no object");
  return object;
}

}  // namespace

base::Result<kube::Config> LoadUserConfig(const ApiOptions& options) {
  kube::Config config;
  auto loaded = kube::LoadConfig({options.kubeconfig, options.context, ""});
  if (!loaded && (options.server.empty() || !options.kubeconfig.empty() || !options.context.empty()))
    return tl::make_unexpected(loaded.error());
  if (loaded) config = *std::move(loaded);
  if (!options.server.empty()) {
    if (const std::string problem = kube::ServerProblem(options.server); !problem.empty())
      return base::Invalid(fmt::format("--server: {}", problem));
    config.server = options.server;
    if (options.insecure) {
      config.insecure_skip_tls_verify = true;
      config.ca_pem.clear();
      config.ca_file.clear();
    }
  }
  if (config.server.starts_with("http://")) DropCredentials(&config);
  return config;
}

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

UserClient::UserClient(const kube::Config& config)
    : default_namespace_(config.default_namespace.empty() ? "default" : config.default_namespace) {
  kube::KubeClient::Options options;
  options.component = "kubectl-tutti";
  options.version = TUTTI_VERSION;
  client_ = std::make_unique<kube::KubeClient>(config, options, clock_, sink_);
}

UserClient::~UserClient() { client_->Shutdown(0); }

base::Result<std::unique_ptr<ApiClient>> ApiClient::Connect(const ApiOptions& options) {
  const auto config = LoadUserConfig(options);
  if (!config) return tl::make_unexpected(config.error());
  return std::unique_ptr<ApiClient>(new ApiClient(*config));
}

base::Result<base::Json> ApiClient::Get(const std::string& path) { return ObjectIn(client_->Get(path)); }

base::Result<std::vector<base::Json>> ApiClient::List(const std::string& path) {
  std::vector<base::Json> objects;
  std::string next;
  do {
    const std::string at = next.empty() ? "" : "&continue=" + kube::Escape(next);
    auto page = Get(fmt::format("{}?limit={}{}", path, kPage, at));
    if (!page) return tl::make_unexpected(page.error());
    next = sim::DigString(*page, "metadata", "continue");
    for (base::Json& item : (*page)["items"]) objects.push_back(std::move(item));
  } while (!next.empty());
  return objects;
}

base::Result<base::Json> ApiClient::Post(const std::string& path, const base::Json& object) {
  return ObjectIn(client_->Post(path, base::PrintJson(object)));
}

base::Result<base::Json> ApiClient::Patch(const std::string& path, const base::Json& object) {
  return ObjectIn(client_->Patch(path, base::PrintJson(object)));
}

}  // namespace tutti::app
