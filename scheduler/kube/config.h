// SPDX-License-Identifier: Apache-2.0
// Config: the address of the API server and our credentials, from a kubeconfig or from our own pod.
//
// Values of this type hold secrets: they are never logged, and errors name only files and fields.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tutti::kube {

// users[].user.exec: a program that prints an ExecCredential.
struct ExecPlugin {
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::string command;      // a path is made absolute against the kubeconfig's folder
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct Config {
  std::string server;           // "https://10.0.0.1:6443", no trailing slash
  std::string ca_pem;           // empty: the system's authorities
  std::string ca_file;          // where ca_pem was read; may be empty
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  std::string proxy_url;

  // Our user. A token file wins over a token; a file is read again when it changes.
  std::string token, token_file;
  std::string username, password;
  // Headers that ask the server to treat us as another user: names in lower case, values of one line.
  std::vector<std::pair<std::string, std::string>> impersonation;
  std::string client_cert_pem, client_key_pem;
  std::string client_cert_file, client_key_file;
  std::optional<ExecPlugin> exec;
  std::string exec_config;  // the cluster entry's settings for an exec plugin, as JSON; may be empty

  std::string default_namespace;  // of the context, or of our own pod; may be empty
  std::string user;               // for messages: the user's name in the kubeconfig; empty in a pod
  std::string source;             // for messages: the file and context, or "in-cluster"
};

struct ConfigSource {
  std::string kubeconfig;  // --kubeconfig: only this file is read, and it must exist
  std::string context;     // --context; empty: current-context
  std::string server;      // --master: replaces the server
};

// Says why `server` cannot be the API server's URL; empty: it can.
std::string ServerProblem(const std::string& server);

// Reads the first of these that there is: `source.kubeconfig`; the list in $KUBECONFIG, merged (the first file that has
// an entry wins, missing files are ignored); in-cluster if KUBERNETES_SERVICE_HOST is set; ~/.kube/config. Refuses a
// configuration that can make no connection. Error: kInvalid, naming the file and the field.
base::Result<Config> LoadConfig(const ConfigSource& source);

// Checks that the exec plugin, if there is one, can be started. Error: kInvalid, with the install hint.
base::Status FindExecPlugin(const Config& config);

// Reads and merges `paths`; at least one must exist unless `paths` is empty.
base::Result<Config> LoadKubeconfig(const std::vector<std::string>& paths, const std::string& context);

// Reads `ca_file` again, because certificate authorities are replaced while we run. Returns true if `ca_pem` changed. A
// file that cannot be read or holds no certificate changes nothing.
bool RereadAuthorities(Config* config);

// Reads a pod's mounted ServiceAccount; `folder` is /var/run/secrets/kubernetes.io/serviceaccount except in tests.
base::Result<Config> LoadInCluster(const std::string& folder);

}  // namespace tutti::kube
