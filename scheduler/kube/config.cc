// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "kube/pem.h"
#include "kube/transport.h"

namespace tutti::kube {
namespace {

constexpr const char* kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> SplitPathList(const std::string& list) {
  std::vector<std::string> paths;
  std::stringstream stream(list);
  for (std::string path; std::getline(stream, path, ':');)
    if (!path.empty()) paths.push_back(path);
  return paths;
}

}  // namespace

std::string ServerProblem(const std::string& server) {
  // The server's URL is logged, and its authority is sent as Host.
  if (SplitUrl(server).authority.find('@') != std::string::npos)
    return "has a user in it; write users[].user.username and password instead";
  const bool known = server.starts_with("https://") || server.starts_with("http://");
  if (!known || !SplitUrl(server).sound() || server.find_first_of(" \t\r\n\\?#") != std::string::npos)
    return "must be a URL such as https://10.0.0.1:6443: https:// or http://, a host, a port from 1 to 65535";
  return "";
}

base::Result<Config> LoadInCluster(const std::string& folder) {
  const std::string host = Environment("KUBERNETES_SERVICE_HOST");
  const std::string port = Environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    return base::Invalid(
        "in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; give --kubeconfig");
  Config config;
  config.source = "in-cluster";
  const bool ipv6 = host.find(':') != std::string::npos;
  config.server = fmt::format("https://{}:{}", ipv6 ? "[" + host + "]" : host, port);
  config.ca_file = folder + "/ca.crt";
  auto ca = base::ReadFile(config.ca_file);
  if (!ca) return tl::make_unexpected(ca.error());
  config.ca_pem = std::move(*ca);
  if (!HoldsCertificate(config.ca_pem))
    return base::Invalid(fmt::format("{}: holds no certificate in PEM", config.ca_file));
  config.token_file = folder + "/token";
  if (auto token = base::ReadFile(config.token_file); !token) return tl::make_unexpected(token.error());
  if (auto ns = base::ReadFile(folder + "/namespace")) config.default_namespace = std::move(*ns);
  return config;
}

bool RereadAuthorities(Config* config) {
  if (config->ca_file.empty()) return false;
  auto pem = base::ReadFile(config->ca_file);
  if (!pem || *pem == config->ca_pem || !HoldsCertificate(*pem)) return false;
  config->ca_pem = *std::move(pem);
  return true;
}

base::Result<Config> LoadConfig(const ConfigSource& source) {
  const auto load = [&]() -> base::Result<Config> {
    if (!source.kubeconfig.empty()) return LoadKubeconfig({source.kubeconfig}, source.context);
    if (const auto paths = SplitPathList(Environment("KUBECONFIG")); !paths.empty())
      return LoadKubeconfig(paths, source.context);
    const bool in_pod = !Environment("KUBERNETES_SERVICE_HOST").empty();
    const std::string home = Environment("HOME") + "/.kube/config";
    if (!in_pod && std::filesystem::exists(home)) return LoadKubeconfig({home}, source.context);
    if (!source.context.empty())
      return base::Invalid(fmt::format(
          "--context: there is no kubeconfig that could have \"{}\"; give --kubeconfig too", source.context));
    if (in_pod) return LoadInCluster(kServiceAccountFolder);
    if (!source.server.empty()) return Config{};
    return base::Invalid("no cluster is configured: give --kubeconfig FILE, set KUBECONFIG, or run in a pod");
  };
  base::Result<Config> config = load();
  if (!config) return config;
  if (!source.server.empty()) config->server = source.server;
  if (const std::string problem = ServerProblem(config->server); !problem.empty())
    return base::Invalid(
        fmt::format("{} {}", source.server.empty() ? "in-cluster: the API server's URL" : "--master", problem));
  while (config->server.ends_with('/')) config->server.pop_back();
  return config;
}

}  // namespace tutti::kube
