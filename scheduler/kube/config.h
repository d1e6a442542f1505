// SPDX-License-Identifier: Apache-2.0
// Config: where the API server is and who we are to it; from a kubeconfig, or from the pod we run in.
//
// Values of this type hold secrets: they are never logged, and errors name files and fields, not contents.
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
  std::string ca_pem;           // empty: the system's
  std::string ca_file;          // where ca_pem was read; may be empty
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  std::string proxy_url;

  // Who we are. A token file goes before a token; a file is read again as it changes.
  std::string token, token_file;
  std::string username, password;
  // Whom the server is asked to take us for, as headers: names in lower case, values of one line.
  std::vector<std::pair<std::string, std::string>> impersonation;
  std::string client_cert_pem, client_key_pem;
  std::string client_cert_file, client_key_file;
  std::optional<ExecPlugin> exec;
  std::string exec_config;  // what the cluster's entry has for an exec plugin, in JSON; may be empty

  std::string default_namespace;  // of the context, or of our own pod; may be empty
  std::string user;               // for messages: the kubeconfig's name of it; empty in a pod
  std::string source;             // for messages: the file and context, or "in-cluster"
};

struct ConfigSource {
  std::string kubeconfig;  // --kubeconfig: this file alone, and it must exist
  std::string context;     // --context; empty: current-context
  std::string server;      // --master: replaces the server
};

// What is wrong with it as the API server's URL; empty: nothing.
std::string ServerProblem(const std::string& server);

// In order: `source.kubeconfig`; the list in $KUBECONFIG, merged (the first to name a thing wins, missing files are
// passed over); in-cluster where KUBERNETES_SERVICE_HOST is set; ~/.kube/config. Error kInvalid names the file and the
// field: what no connection could be made with is refused here.
base::Result<Config> LoadConfig(const ConfigSource& source);

// Whether the exec plugin, if there is one, is a program that can be started. Error kInvalid, with the install hint.
base::Status FindExecPlugin(const Config& config);

// The merge of `paths`; at least one must exist unless `paths` is empty.
base::Result<Config> LoadKubeconfig(const std::vector<std::string>& paths, const std::string& context);

// Authorities are replaced while we run: reads `ca_file` again. True: `ca_pem` is another now. What cannot be read, or
// holds no certificate, leaves it as it is.
bool RereadAuthorities(Config* config);

// From a pod's mounted ServiceAccount; `folder` is /var/run/secrets/kubernetes.io/serviceaccount but in tests.
base::Result<Config> LoadInCluster(const std::string& folder);

}  // namespace tutti::kube
